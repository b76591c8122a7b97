/**
 * The faults: one class each, injected and healed, and combined by {@link
 * dev.baton.chaos.nemesis.Together}.
 *
 * <p>Reading order: {@link dev.baton.chaos.nemesis.Fault}, {@link dev.baton.chaos.nemesis.Scene},
 * {@link dev.baton.chaos.nemesis.Victim}. What a fault promises about the fail-over after it stands
 * with it.
 *
 * <p>Must not: know how an environment does what it is asked for.
 */
@NullMarked
package dev.baton.chaos.nemesis;

import org.jspecify.annotations.NullMarked;
