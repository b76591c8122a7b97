/**
 * Runs attempts: one virtual thread for each, its cancel signal and its timeout, and the result
 * that it makes.
 *
 * <p>Must not: know terms, leaders or streams; block the worker's strand; let anything that a
 * handler throws escape.
 */
@NullMarked
package dev.baton.worker.attempt;

import org.jspecify.annotations.NullMarked;
