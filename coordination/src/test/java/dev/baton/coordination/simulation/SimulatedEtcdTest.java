package dev.baton.coordination.simulation;

import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.baton.coordination.Etcd;
import dev.baton.coordination.EtcdContract;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.function.BooleanSupplier;

/** The contract on a kind simulated etcd. */
class SimulatedEtcdTest extends EtcdContract {
  private final World world = new World(1);
  private final Etcd etcd = new SimulatedEtcd(world).client("test");

  @Override
  protected Etcd etcd() {
    return etcd;
  }

  @Override
  protected <T> T await(CompletableFuture<T> call) {
    assertTrue(world.runUntil(Duration.ofSeconds(10), call::isDone), "an answer within 10 s");
    return call.join();
  }

  @Override
  protected void awaitUntil(String what, Duration bound, BooleanSupplier condition) {
    assertTrue(world.runUntil(bound, condition), what);
  }
}
