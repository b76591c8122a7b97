/**
 * The load: runs of known shapes at a known rate, submitted, cancelled and followed through the API
 * client, every operation recorded.
 *
 * <p>Reading order: {@link dev.baton.chaos.workload.Workload}, {@code Plans}, {@code Follower},
 * {@link dev.baton.chaos.workload.Traces}. A time-out is unknown, never a failure.
 *
 * <p>Must not: know of faults.
 */
@NullMarked
package dev.baton.chaos.workload;

import org.jspecify.annotations.NullMarked;
