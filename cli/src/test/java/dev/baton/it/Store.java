package dev.baton.it;

import com.google.protobuf.ByteString;
import com.google.protobuf.InvalidProtocolBufferException;
import dev.baton.coordination.Etcd.KeyValue;
import dev.baton.coordination.Etcd.ListReply;
import dev.baton.coordination.Etcd.ListRequest;
import dev.baton.coordination.EtcdConfig;
import dev.baton.coordination.Keys;
import dev.baton.coordination.jetcd.JetcdEtcd;
import dev.baton.proto.journal.v1.JournalEntry;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** What stands in a test cluster's etcd. */
final class Store implements AutoCloseable {
  private static final Duration CALL = Duration.ofSeconds(20);
  private static final int PAGE = 500;

  private final JetcdEtcd etcd;
  private final Keys keys = new Keys("baton");

  Store(TestCluster cluster) {
    etcd = JetcdEtcd.create(EtcdConfig.of(cluster.etcd().endpoints()), "test");
  }

  Keys keys() {
    return keys;
  }

  /** The first entry of each term that the journal still holds. */
  Map<Long, Long> firstEntries() {
    Map<Long, Long> first = new HashMap<>();
    for (KeyValue each : list(keys.journal(), false)) {
      try {
        JournalEntry entry = JournalEntry.parseFrom(each.value());
        first.merge(entry.getTerm(), entry.getSeq(), Math::min);
      } catch (InvalidProtocolBufferException e) {
        throw new AssertionError("An entry can't be read: " + each.key().toStringUtf8(), e);
      }
    }
    return first;
  }

  int count(ByteString prefix) {
    return list(prefix, true).size();
  }

  @Override
  public void close() {
    etcd.close();
  }

  private List<KeyValue> list(ByteString prefix, boolean keysOnly) {
    List<KeyValue> all = new ArrayList<>();
    ByteString from = prefix;
    long revision = 0;
    while (true) {
      ListReply page = page(new ListRequest(from, Keys.end(prefix), PAGE, revision, keysOnly));
      all.addAll(page.keyValues());
      if (!page.more()) {
        return all;
      }
      from = Keys.after(all.getLast().key());
      revision = page.revision();
    }
  }

  private ListReply page(ListRequest request) {
    try {
      return etcd.list(request, CALL).get(CALL.toSeconds() + 5, TimeUnit.SECONDS);
    } catch (ExecutionException | TimeoutException e) {
      throw new AssertionError("etcd can't be read", e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(e);
    }
  }
}
