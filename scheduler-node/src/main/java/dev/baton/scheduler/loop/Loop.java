package dev.baton.scheduler.loop;

import dev.baton.coordination.Etcd;
import dev.baton.coordination.Keys;
import dev.baton.coordination.Strand;
import dev.baton.scheduler.journal.JournalClock;
import dev.baton.workflow.Resolver;
import java.util.concurrent.Executor;
import java.util.random.RandomGenerator;

/**
 * What all parts of a loop share.
 *
 * @param generation of the cluster
 * @param appends the client that carries entries only
 * @param reads the client for reads, watches, and writes beside the journal
 * @param pool evaluates expressions and encodes what is long
 */
public record Loop(
    Strand strand,
    Etcd appends,
    Etcd reads,
    Keys keys,
    JournalClock clock,
    long generation,
    WorkerSink sink,
    Peers peers,
    LoopListener listener,
    LoopSettings settings,
    Resolver resolver,
    Executor pool,
    RandomGenerator random) {
  /** Journal time, ms. */
  public long now() {
    return clock.now(strand.nanoTime());
  }
}
