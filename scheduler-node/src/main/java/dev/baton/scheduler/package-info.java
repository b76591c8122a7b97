/**
 * A scheduler node as a process: {@link dev.baton.scheduler.SchedulerNode} wires its parts by hand,
 * in the order in which they start, and closes them in reverse.
 */
@NullMarked
package dev.baton.scheduler;

import org.jspecify.annotations.NullMarked;
