/**
 * What is stored in etcd, and how the state is made from it: entries, snapshots, definitions,
 * history, payloads.
 *
 * <p>{@link dev.baton.scheduler.journal.Replica} is the state at an entry; {@link
 * dev.baton.scheduler.journal.StateLoader} makes one from nothing, {@link
 * dev.baton.scheduler.journal.JournalTail} follows what the leader appends. {@link
 * dev.baton.scheduler.journal.OpenEntry} gathers what the leader decides.
 *
 * <p>Must not: decide anything, or know who leads.
 */
@NullMarked
package dev.baton.scheduler.journal;

import org.jspecify.annotations.NullMarked;
