package dev.baton.workflow;

import org.jspecify.annotations.Nullable;

/**
 * A parameter of a run.
 *
 * @param defaultJson a JSON text; null: the run must give a value
 */
public record Parameter(String name, @Nullable String defaultJson) {}
