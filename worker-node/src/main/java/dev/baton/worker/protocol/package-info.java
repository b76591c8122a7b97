/**
 * The worker's side of the contract with the schedulers, as pure state: what is held, what may be
 * said to whom, what is dropped.
 *
 * <p>Must not: start threads, do I/O, look at a clock, log, or know gRPC's streams. A simulation
 * runs these classes unchanged.
 */
@NullMarked
package dev.baton.worker.protocol;

import org.jspecify.annotations.NullMarked;
