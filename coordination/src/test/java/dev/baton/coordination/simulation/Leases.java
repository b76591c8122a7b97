package dev.baton.coordination.simulation;

import dev.baton.coordination.Etcd;
import dev.baton.coordination.EtcdException.Kind;
import dev.baton.coordination.simulation.World.Event;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The leases of a cluster: etcd's leader counts them in whole seconds, ends them up to a second
 * late, and a new one begins all of them again.
 */
final class Leases {
  /** What etcd grants at least with its default timing of elections. */
  private static final long SHORTEST_SECONDS = 2;

  private static final int LATE_NANOS = 1_000_000_000;

  private final World world;
  private final Store store;
  private final Counts counts;
  private final Map<Long, Standing> leases = new LinkedHashMap<>();
  private boolean counting = true;

  private static final class Standing {
    private final Duration ttl;
    private long expiryNanos;
    private @Nullable Event end;

    Standing(Duration ttl) {
      this.ttl = ttl;
    }
  }

  Leases(World world, Store store, Counts counts) {
    this.world = world;
    this.store = store;
    this.counts = counts;
  }

  Etcd.Lease grant(Duration ttl) {
    long seconds = Math.max(SHORTEST_SECONDS, (ttl.toMillis() + 999) / 1000);
    long id = world.random().nextLong(1, Long.MAX_VALUE);
    Standing lease = new Standing(Duration.ofSeconds(seconds));
    leases.put(id, lease);
    begin(id, lease);
    return new Etcd.Lease(id, lease.ttl);
  }

  /** One that is over stays over, though its keys may still be there. */
  Optional<Duration> renew(long id) {
    Standing lease = leases.get(id);
    if (lease == null || world.nanoTime() >= lease.expiryNanos) {
      return Optional.empty();
    }
    begin(id, lease);
    return Optional.of(lease.ttl);
  }

  void revoke(long id) {
    Standing lease = leases.remove(id);
    if (lease == null) {
      throw Transactions.refused(Kind.LEASE_NOT_FOUND, "the lease to revoke is not known");
    }
    if (lease.end != null) {
      lease.end.cancel();
    }
    Store.Change change = store.change();
    change.deleteOf(id);
    change.commit();
  }

  boolean isKnown(long id) {
    return leases.containsKey(id);
  }

  /** Without a leader of etcd nobody counts. */
  void stopCounting() {
    counting = false;
  }

  /** A new leader of etcd. */
  void beginAgain() {
    counting = true;
    leases.forEach(this::begin);
  }

  private void begin(long id, Standing lease) {
    if (lease.end != null) {
      lease.end.cancel();
    }
    lease.expiryNanos = world.nanoTime() + lease.ttl.toNanos();
    lease.end =
        world.at(
            lease.expiryNanos + world.random().nextInt(LATE_NANOS),
            () -> {
              if (counting) {
                counts.add(Happening.LEASE_EXPIRED);
                revoke(id);
              }
            });
  }
}
