/**
 * Where a cluster under test runs, and what can be done to it.
 *
 * <p>Reading order: {@link dev.baton.chaos.environment.Environment}, {@link
 * dev.baton.chaos.environment.Ability}. An environment that lacks an ability says why; the faults
 * that need it are reported as skipped.
 *
 * <p>Must not: choose whom to hit, or judge.
 */
@NullMarked
package dev.baton.chaos.environment;

import org.jspecify.annotations.NullMarked;
