package dev.baton.worker;

import com.google.protobuf.ByteString;
import com.google.protobuf.InvalidProtocolBufferException;
import dev.baton.coordination.Etcd;
import dev.baton.coordination.Keys;
import dev.baton.coordination.Strand;
import dev.baton.node.ExitException;
import dev.baton.node.IdClaim;
import dev.baton.proto.v1.WorkerRecord;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.random.RandomGenerator;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * This worker's key in etcd. A lease that is lost is no reason to stop: what runs goes on.
 *
 * <p>Runs on a strand of its own: no load on the streams delays the lease.
 */
final class Registration implements IdClaim.Events {
  private static final Logger log = LoggerFactory.getLogger(Registration.class);
  static final Duration TTL = Duration.ofSeconds(10);

  private final Strand strand;
  private final IdClaim claim;
  private final Events events;
  private WorkerRecord record;

  /** What the registration tells, on its strand. */
  interface Events {
    void registered();

    /** Another live process has the id. */
    void refused(ExitException reason);
  }

  Registration(
      Etcd etcd,
      Strand strand,
      RandomGenerator random,
      Keys keys,
      WorkerRecord record,
      Events events) {
    this.strand = strand;
    this.record = record;
    this.events = events;
    this.claim =
        new IdClaim(
            etcd,
            strand,
            random,
            new IdClaim.Claim(
                keys.worker(record.getWorkerId()),
                record.toByteString(),
                TTL,
                "worker id '" + record.getWorkerId() + "'",
                record.getIncarnation(),
                Registration::holder),
            this);
  }

  void start() {
    claim.start();
  }

  /** The key is this worker's, as far as is known. From any thread. */
  boolean held() {
    return claim.isHeld();
  }

  /** The lease of the key; 0: none, or it may have ended meanwhile. From any thread. */
  long confirmedLease() {
    return claim.confirmedLease();
  }

  /** Offers no slots any more; what runs stays this worker's. */
  void drain() {
    strand.execute(() -> {
      record = record.toBuilder().setSlots(0).build();
      claim.update(record.toByteString());
    });
  }

  /** Gives the key up. */
  CompletableFuture<Void> close() {
    return claim.close();
  }

  @Override
  public void onHeld() {
    log.info(
        "registered as worker {} (incarnation {}), {} slots, for {}",
        record.getWorkerId(),
        record.getIncarnation(),
        record.getSlots(),
        record.getCapabilitiesList());
    events.registered();
  }

  @Override
  public void onLost(String reason) {}

  @Override
  public void onRefused(ExitException reason) {
    events.refused(reason);
  }

  private static IdClaim.Holder holder(ByteString value) {
    try {
      WorkerRecord other = WorkerRecord.parseFrom(value);
      return new IdClaim.Holder(other.getHost(), other.getPort(), other.getIncarnation());
    } catch (InvalidProtocolBufferException e) {
      return new IdClaim.Holder("", 0, "?");
    }
  }
}
