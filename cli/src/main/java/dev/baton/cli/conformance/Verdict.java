package dev.baton.cli.conformance;

import org.jspecify.annotations.Nullable;

/**
 * What became of a check.
 *
 * @param evidence how the worker breaks the rule; null: it keeps it
 */
public record Verdict(Rule rule, @Nullable String evidence) {}
