/**
 * A world of its own time in which the code that runs in production is tried out: one seed decides
 * everything, no thread, no wall clock.
 *
 * <p>Must not: know what is stored, or wait for anything outside.
 */
@NullMarked
package dev.baton.coordination.simulation;

import org.jspecify.annotations.NullMarked;
