package dev.baton.coordination;

import com.google.protobuf.ByteString;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * A client of one etcd cluster: the only way to it.
 *
 * <p>Each call is sent once, to one member, and fails with an {@link EtcdException} when no answer
 * came by its deadline; it is never repeated here. The client stays with the member that answered
 * last and turns to the next one after a call without an answer, so a caller that repeats a call
 * reaches another member. Reads are linearizable. Futures complete on a thread of the client:
 * callers continue on an executor of their own.
 */
public interface Etcd extends AutoCloseable {
  /** The longest answer that is taken: lists are read in pages because of it. */
  int MAX_ANSWER_BYTES = 64 << 20;

  /** Runs a transaction; a refused one is an answer, not an exception. */
  CompletableFuture<TxnReply> txn(Txn txn, Duration deadline);

  CompletableFuture<GetReply> get(ByteString key, Duration deadline);

  /** Reads one page of a range, in the order of keys. */
  CompletableFuture<ListReply> list(ListRequest request, Duration deadline);

  /**
   * Follows puts (and deletes, if asked) from a revision on. The member must be in touch with a
   * leader of etcd, else the watch fails. A watch that failed is over: the caller reads again and
   * opens a new one.
   */
  Watch watch(WatchRequest request, WatchListener listener);

  /** Grants a lease; the answer's TTL can be longer than what was asked. */
  CompletableFuture<Lease> grant(Duration ttl, Duration deadline);

  /** Renews a lease once; empty: it is gone. */
  CompletableFuture<Optional<Duration>> renew(long leaseId, Duration deadline);

  /** Ends a lease and deletes its keys; one that is gone already is a success. */
  CompletableFuture<Void> revoke(long leaseId, Duration deadline);

  /** Forgets all revisions before {@code revision}; one that is compacted already is a success. */
  CompletableFuture<Void> compact(long revision, Duration deadline);

  /** What the member that answers says of itself. */
  CompletableFuture<Status> status(Duration deadline);

  /** Ends all watches without calling their listeners, and fails all calls. */
  @Override
  void close();

  /** A key with its value and revisions. */
  record KeyValue(
      ByteString key, ByteString value, long createRevision, long modRevision, long leaseId) {}

  /** One key, or null if it is absent; {@code revision} is the store's when it answered. */
  record GetReply(@Nullable KeyValue keyValue, long revision) {}

  /**
   * A page to read.
   *
   * @param from first key
   * @param to the first key that is not in the range any more
   * @param limit at most so many keys; 0: all
   * @param revision as of this revision; 0: now
   * @param keysOnly leave values out
   */
  record ListRequest(ByteString from, ByteString to, int limit, long revision, boolean keysOnly) {}

  /** A page. {@code more}: keys are left; go on after the last one, at {@code revision}. */
  record ListReply(List<KeyValue> keyValues, boolean more, long revision) {}

  record Lease(long id, Duration ttl) {}

  record Status(
      String version,
      long sizeBytes,
      long sizeInUseBytes,
      long raftTerm,
      long leaderId,
      long revision) {}

  /** A range to follow. {@code startRevision} 0 means from now on. */
  record WatchRequest(ByteString from, ByteString to, long startRevision, boolean deletes) {}

  interface Watch extends AutoCloseable {
    /** After it the listener is not called any more, but for a call that runs already. */
    @Override
    void close();
  }

  /** Called on a thread of the client, one call at a time. */
  interface WatchListener {
    /** The watch stands: events from its start revision on will come. */
    void onOpen();

    /**
     * Events of one or more revisions, in order; empty: etcd is alive and has told everything up to
     * the revision.
     */
    void onEvents(List<WatchEvent> events, long revision);

    /**
     * The watch is over. {@link EtcdException.Kind#COMPACTED}: what it should have told is gone.
     */
    void onFailure(EtcdException failure);
  }

  /** A put ({@code value} is there) or a delete ({@code value} is null). */
  record WatchEvent(
      ByteString key, @Nullable ByteString value, long createRevision, long modRevision) {}
}
