package dev.baton.coordination;

import com.google.protobuf.ByteString;
import dev.baton.coordination.Etcd.KeyValue;
import dev.baton.coordination.Etcd.ListRequest;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/**
 * A folder as it was at one revision, in the order of keys.
 *
 * @param revision a watch from the next one misses nothing
 */
public record Listing(List<KeyValue> keyValues, long revision) {
  /** Keys of a page. */
  public static final int PAGE = 500;

  public Listing {
    keyValues = List.copyOf(keyValues);
  }

  /**
   * Reads all keys that start with {@code prefix}, linearizably, in pages.
   *
   * @param deadline of each page
   */
  public static CompletableFuture<Listing> read(
      Etcd etcd, Strand strand, ByteString prefix, Duration deadline) {
    return page(etcd, strand, prefix, Keys.end(prefix), 0, new ArrayList<>(), deadline);
  }

  private static CompletableFuture<Listing> page(
      Etcd etcd,
      Strand strand,
      ByteString from,
      ByteString to,
      long revision,
      List<KeyValue> read,
      Duration deadline) {
    return etcd.list(new ListRequest(from, to, PAGE, revision, false), deadline)
        .thenComposeAsync(
            reply -> {
              read.addAll(reply.keyValues());
              if (!reply.more()) {
                return CompletableFuture.completedFuture(new Listing(read, reply.revision()));
              }
              ByteString last = reply.keyValues().getLast().key();
              return page(etcd, strand, Keys.after(last), to, reply.revision(), read, deadline);
            },
            strand);
  }
}
