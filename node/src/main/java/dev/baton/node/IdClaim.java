package dev.baton.node;

import com.google.protobuf.ByteString;
import dev.baton.coordination.Etcd;
import dev.baton.coordination.Etcd.KeyValue;
import dev.baton.coordination.EtcdException;
import dev.baton.coordination.LeasedKey;
import dev.baton.coordination.Strand;
import dev.baton.coordination.Strand.Timer;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A process's claim to its id: a key in etcd, under a lease of its own.
 *
 * <p>While another process holds the id it waits, and takes over as soon as that one is gone. It
 * asks the holder's HTTP port: one that still answers after three seconds is alive, and the claim
 * is refused. One that does not answer is left to its lease. A lease that is lost is no reason to
 * stop: the key is made again.
 *
 * <p>Runs on a strand of its own, so that no load delays the lease.
 */
public final class IdClaim implements LeasedKey.Listener {
  private static final Logger log = LoggerFactory.getLogger(IdClaim.class);
  private static final Duration PATIENCE = Duration.ofSeconds(3);
  private static final Duration ASK_EVERY = Duration.ofMillis(500);

  private final Strand strand;
  private final Claim claim;
  private final Events events;
  private final Incumbent incumbent = new Incumbent();
  private final RateLimited waits;
  private final LeasedKey key;
  private @Nullable Timer asking;
  private volatile boolean held;

  /**
   * What is claimed.
   *
   * @param what for people: {@code worker id 'w1'}
   * @param incarnation of this process
   * @param holderOf reads who holds the key from its value
   */
  public record Claim(
      ByteString key,
      ByteString value,
      Duration ttl,
      String what,
      String incarnation,
      Function<ByteString, Holder> holderOf) {}

  /** Who holds an id, and where its HTTP port is. */
  public record Holder(String host, int port, String incarnation) {
    @Override
    public String toString() {
      return "incarnation "
          + incarnation
          + " at "
          + new HostPort(host.isBlank() ? "?" : host, port);
    }
  }

  /** Called on the strand. */
  public interface Events {
    void onHeld();

    void onLost(String reason);

    /** Another live process has the id. */
    void onRefused(ExitException reason);
  }

  public IdClaim(Etcd etcd, Strand strand, RandomGenerator random, Claim claim, Events events) {
    this.strand = strand;
    this.claim = claim;
    this.events = events;
    this.waits = new RateLimited(Duration.ofSeconds(10), strand::nanoTime);
    this.key = new LeasedKey(etcd, strand, random, claim.key(), claim.value(), claim.ttl(), this);
  }

  public void start() {
    key.start();
  }

  /** The key is ours, as far as is known. From any thread. */
  public boolean isHeld() {
    return held;
  }

  /** The lease under which the key is ours; 0: none, or it may have ended. From any thread. */
  public long confirmedLease() {
    return key.confirmedLease();
  }

  /** Leases that etcd may know of: 0 or 1. */
  public int leases() {
    return key.leases();
  }

  /** The key's value from now on. */
  public void update(ByteString value) {
    strand.execute(() -> key.update(value));
  }

  /** Gives the key up. */
  public CompletableFuture<Void> close() {
    strand.execute(this::stopAsking);
    return key.close();
  }

  @Override
  public void onHeld(long createRevision, long leaseId) {
    stopAsking();
    held = true;
    events.onHeld();
  }

  @Override
  public void onTaken(KeyValue keyValue) {
    stopAsking();
    Holder holder = claim.holderOf().apply(keyValue.value());
    if (holder.incarnation().equals(claim.incarnation())) {
      return; // an earlier lease of this process: it ends by itself
    }
    log.info("The {} is held by {}; waiting until it is gone", claim.what(), holder);
    ask(holder, strand.nanoTime());
  }

  @Override
  public void onLost(String reason) {
    held = false;
    log.warn("The {} is not registered any more ({}): registering again", claim.what(), reason);
    events.onLost(reason);
  }

  @Override
  public void onRetry(EtcdException failure, Duration pause) {
    waits.run(
        "retry",
        suppressed ->
            log.warn(
                "Registering the {} failed ({} tries): {}; trying again",
                claim.what(),
                suppressed + 1,
                failure.getMessage()));
  }

  private void ask(Holder holder, long startNanos) {
    var unused =
        incumbent
            .answers(holder.host(), holder.port(), holder.incarnation())
            .whenCompleteAsync((alive, failure) -> answered(holder, startNanos, alive), strand);
    asking = strand.schedule(ASK_EVERY, () -> ask(holder, startNanos));
  }

  private void answered(Holder holder, long startNanos, @Nullable Boolean alive) {
    if (asking == null || held) {
      return;
    }
    Duration waited = Duration.ofNanos(strand.nanoTime() - startNanos);
    if (!Boolean.TRUE.equals(alive)) {
      if (waited.compareTo(claim.ttl()) > 0) {
        waits.run(
            "silent",
            suppressed ->
                log.warn(
                    "The {} is still held by {}, which renews its lease though nothing answers there; waiting",
                    claim.what(),
                    holder));
      }
    } else if (waited.compareTo(PATIENCE) >= 0) {
      stopAsking();
      events.onRefused(
          new ExitException(
              ExitCode.ID_IN_USE,
              "the %s is in use: %s answers; stop that process or choose another id (--id)"
                  .formatted(claim.what(), holder)));
    }
  }

  private void stopAsking() {
    if (asking != null) {
      asking.cancel();
      asking = null;
    }
  }
}
