/**
 * The table of scenarios, and the run of one: start, load, rounds of faults, recovery, drain.
 *
 * <p>Reading order: {@link dev.baton.chaos.scenario.Scenario}, {@link
 * dev.baton.chaos.scenario.ChaosRun}.
 *
 * <p>Must not: judge; the history does not know what the scenario hoped for.
 */
@NullMarked
package dev.baton.chaos.scenario;

import org.jspecify.annotations.NullMarked;
