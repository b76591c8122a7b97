/**
 * Whole clusters from the packaged jars: real etcd members, schedulers and workers as processes of
 * their own, hit by signals.
 *
 * <p>What tasks did is judged by a file that the tasks' own commands write ({@link
 * dev.baton.it.Ledger}), never by what Baton says of itself alone.
 *
 * <p>Must not: look into the nodes' classes; signal a process that it did not start; rely on how
 * long something takes, but for what a test measures.
 */
@NullMarked
package dev.baton.it;

import org.jspecify.annotations.NullMarked;
