package dev.baton.scheduler.simulation;

import dev.baton.coordination.simulation.SimulatedStrand;
import java.time.Duration;
import java.util.concurrent.Executor;

/** The pool of a node: what it is given runs some time later, in any order. */
final class SimulatedPool implements Executor {
  private static final int USUAL_MICROS = 2_000;

  private final Cluster cluster;
  private final SimulatedStrand strand;

  SimulatedPool(Cluster cluster, SimulatedStrand strand) {
    this.cluster = cluster;
    this.strand = strand;
  }

  @Override
  public void execute(Runnable task) {
    cluster.coverage().see(Coverage.Sight.INPUTS_IN_POOL);
    long micros = cluster.random().nextInt(USUAL_MICROS);
    if (cluster.random().nextInt(cluster.conditions().oneInSlowPool()) == 0) {
      micros += cluster.random().nextInt(cluster.conditions().slowPoolMicros());
    }
    var unused = strand.schedule(Duration.ofNanos(micros * 1_000), task);
  }
}
