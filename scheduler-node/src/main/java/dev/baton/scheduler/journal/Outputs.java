package dev.baton.scheduler.journal;

import com.google.protobuf.ByteString;
import dev.baton.coordination.Etcd;
import dev.baton.coordination.Keys;
import dev.baton.coordination.Strand;
import dev.baton.coordination.Txn;
import dev.baton.coordination.Txn.Compare;
import dev.baton.coordination.Txn.Op;
import dev.baton.scheduler.model.AttemptRef;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/**
 * What is too long for the journal: outputs in {@code payloads/}, run parameters in {@code
 * params/}, parts of history records. Written before the event that names it is decided, fenced by
 * the leader key.
 */
public final class Outputs {
  private static final Duration DEADLINE = Duration.ofSeconds(5);

  private final Etcd etcd;
  private final Keys keys;
  private final Strand strand;

  public Outputs(Etcd etcd, Keys keys, Strand strand) {
    this.etcd = etcd;
    this.keys = keys;
    this.strand = strand;
  }

  /** False: this node does not lead any more. Fails without an answer: the caller tries again. */
  public CompletableFuture<Boolean> putOutput(AttemptRef attempt, ByteString json, long term) {
    return put(keys.payload(attempt.run(), attempt.task(), attempt.attempt()), json, term);
  }

  /** Like {@link #putOutput}. */
  public CompletableFuture<Boolean> putParams(
      String runId, long nonce, ByteString json, long term) {
    return put(keys.params(runId, nonce), json, term);
  }

  /** Like {@link #putOutput}. */
  public CompletableFuture<Boolean> putHistoryPart(
      long run, int index, ByteString part, long term) {
    return put(keys.historyPart(run, index), part, term);
  }

  /** Empty: it is gone. */
  public CompletableFuture<Optional<String>> output(AttemptRef attempt) {
    return get(keys.payload(attempt.run(), attempt.task(), attempt.attempt()));
  }

  /** Empty: it is gone. */
  public CompletableFuture<Optional<String>> params(String runId, long nonce) {
    return get(keys.params(runId, nonce));
  }

  private CompletableFuture<Boolean> put(ByteString key, ByteString value, long term) {
    Txn txn =
        new Txn(
            List.of(new Compare.ModRevision(keys.leader(), term)),
            List.of(new Op.Put(key, value, 0)),
            List.of(new Op.Get(keys.leader())));
    return etcd.txn(txn, DEADLINE).thenApplyAsync(reply -> reply.succeeded(), strand);
  }

  private CompletableFuture<Optional<String>> get(ByteString key) {
    return etcd.get(key, DEADLINE)
        .thenApplyAsync(
            reply -> Optional.ofNullable(reply.keyValue()).map(kv -> kv.value().toStringUtf8()),
            strand);
  }
}
