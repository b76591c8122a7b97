/**
 * What was observed in one chaos run, as lines of JSON, and the questions that checkers ask of it.
 *
 * <p>Reading order: {@link dev.baton.chaos.history.Observation}, {@link
 * dev.baton.chaos.history.History}. All moments are of the monotonic clock, which is one for all
 * processes of a machine, whatever their wall clocks say.
 *
 * <p>Must not: know a cluster, or judge.
 */
@NullMarked
package dev.baton.chaos.history;

import org.jspecify.annotations.NullMarked;
