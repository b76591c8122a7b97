package dev.baton.scheduler;

import com.google.protobuf.ByteString;
import dev.baton.coordination.Etcd;
import dev.baton.coordination.Txn;
import dev.baton.coordination.TxnReply;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** As much of an etcd, in memory, as a rehearsal needs: it has one client, and tells no watch. */
final class PretendEtcd implements Etcd {
  private final TreeMap<ByteString, KeyValue> keys =
      new TreeMap<>(ByteString.unsignedLexicographicalComparator());
  private long revision = 1;

  @Override
  public synchronized CompletableFuture<TxnReply> txn(Txn txn, Duration deadline) {
    boolean holds = txn.compares().stream().allMatch(this::holds);
    List<Txn.Op> ops = holds ? txn.then() : txn.otherwise();
    if (ops.stream().anyMatch(op -> !(op instanceof Txn.Op.Get))) {
      revision++;
    }
    List<KeyValue> read = new ArrayList<>();
    for (Txn.Op op : ops) {
      switch (op) {
        case Txn.Op.Put(ByteString key, ByteString value, long lease) -> put(key, value, lease);
        case Txn.Op.Delete(ByteString key) -> keys.remove(key);
        case Txn.Op.DeleteRange(ByteString from, ByteString to) -> keys.subMap(from, to).clear();
        case Txn.Op.Get(ByteString key) -> Optional.ofNullable(keys.get(key)).ifPresent(read::add);
      }
    }
    return CompletableFuture.completedFuture(new TxnReply(holds, revision, read));
  }

  private boolean holds(Txn.Compare compare) {
    KeyValue found = keys.get(compare.key());
    return switch (compare) {
      case Txn.Compare.ModRevision(ByteString key, long expected) ->
          (found == null ? 0 : found.modRevision()) == expected;
      case Txn.Compare.CreateRevision(ByteString key, long expected) ->
          (found == null ? 0 : found.createRevision()) == expected;
    };
  }

  private void put(ByteString key, ByteString value, long lease) {
    KeyValue before = keys.get(key);
    long created = before == null ? revision : before.createRevision();
    keys.put(key, new KeyValue(key, value, created, revision, lease));
  }

  @Override
  public synchronized CompletableFuture<GetReply> get(ByteString key, Duration deadline) {
    return CompletableFuture.completedFuture(new GetReply(keys.get(key), revision));
  }

  @Override
  public synchronized CompletableFuture<ListReply> list(ListRequest request, Duration deadline) {
    List<KeyValue> found = new ArrayList<>();
    @Nullable KeyValue more = null;
    for (KeyValue keyValue : keys.subMap(request.from(), request.to()).values()) {
      if (request.limit() > 0 && found.size() == request.limit()) {
        more = keyValue;
        break;
      }
      found.add(keyValue);
    }
    return CompletableFuture.completedFuture(new ListReply(found, more != null, revision));
  }

  @Override
  public Watch watch(WatchRequest request, WatchListener listener) {
    return () -> {};
  }

  @Override
  public CompletableFuture<Lease> grant(Duration ttl, Duration deadline) {
    return CompletableFuture.completedFuture(new Lease(1, ttl));
  }

  @Override
  public CompletableFuture<Optional<Duration>> renew(long leaseId, Duration deadline) {
    return CompletableFuture.completedFuture(Optional.of(Duration.ofMinutes(1)));
  }

  @Override
  public CompletableFuture<Void> revoke(long leaseId, Duration deadline) {
    return CompletableFuture.completedFuture(null);
  }

  @Override
  public CompletableFuture<Void> compact(long revision, Duration deadline) {
    return CompletableFuture.completedFuture(null);
  }

  @Override
  public CompletableFuture<Status> status(Duration deadline) {
    return CompletableFuture.completedFuture(new Status("", 0, 0, 0, 0, revision));
  }

  @Override
  public void close() {}
}
