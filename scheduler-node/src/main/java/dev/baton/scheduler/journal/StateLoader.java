package dev.baton.scheduler.journal;

import com.google.protobuf.ByteString;
import com.google.protobuf.InvalidProtocolBufferException;
import dev.baton.coordination.Etcd;
import dev.baton.coordination.Etcd.KeyValue;
import dev.baton.coordination.Etcd.ListReply;
import dev.baton.coordination.Etcd.ListRequest;
import dev.baton.coordination.Keys;
import dev.baton.coordination.Strand;
import dev.baton.proto.journal.v1.Head;
import dev.baton.proto.journal.v1.SnapshotManifest;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;

/**
 * Makes the state from nothing: everything is read at one revision, the installed snapshot first,
 * then the entries after it. A load that fails, also because that revision was compacted meanwhile,
 * is begun again by the caller.
 */
public final class StateLoader {
  private static final Duration DEADLINE = Duration.ofSeconds(10);

  private final Etcd etcd;
  private final Keys keys;
  private final Strand strand;
  private final long generation;
  private final SpecStore specs;

  public StateLoader(Etcd etcd, Keys keys, Strand strand, long generation) {
    this.etcd = etcd;
    this.keys = keys;
    this.strand = strand;
    this.generation = generation;
    this.specs = new SpecStore(etcd, keys, strand);
  }

  /**
   * A replica as of a revision.
   *
   * @param headTime journal time in the head, ms; 0: there is no head
   * @param keysRead how many keys were read
   */
  public record Loaded(Replica replica, long revision, long headTime, int keysRead) {}

  /** One load under way. */
  private static final class Load {
    final Replica replica;
    long revision;
    long headSeq;
    long headTime;
    final boolean cautious;
    int keysRead;

    Load(Replica replica, boolean cautious) {
      this.replica = replica;
      this.cautious = cautious;
    }
  }

  /**
   * Completes on the strand; exceptionally if something was missing, damaged, or not answered.
   *
   * @param again the load before has failed
   */
  public CompletableFuture<Loaded> load(boolean again) {
    Load load = new Load(new Replica(generation), again);
    return etcd.get(keys.head(), DEADLINE)
        .thenComposeAsync(
            reply -> {
              load.revision = reply.revision();
              KeyValue head = reply.keyValue();
              if (head != null) {
                Head parsed = head(head.value());
                load.headSeq = parsed.getSeq();
                load.headTime = parsed.getTime();
              }
              return one(keys.snapshot(), load);
            },
            strand)
        .thenComposeAsync(manifest -> restore(manifest, load), strand)
        .thenComposeAsync(nothing -> entries(load), strand)
        .thenApplyAsync(nothing -> checked(load), strand);
  }

  static Head head(ByteString bytes) {
    try {
      return Head.parseFrom(bytes);
    } catch (InvalidProtocolBufferException e) {
      throw new IllegalStateException("Expected a head, but the bytes are none", e);
    }
  }

  private Loaded checked(Load load) {
    if (load.replica.seq() != load.headSeq) {
      throw new IllegalStateException(
          "Expected the journal to end at entry "
              + load.headSeq
              + ", but it ends at "
              + load.replica.seq());
    }
    return new Loaded(load.replica, load.revision, load.headTime, load.keysRead);
  }

  private CompletableFuture<@Nullable KeyValue> one(ByteString key, Load load) {
    return etcd.list(new ListRequest(key, Keys.after(key), 1, load.revision, false), DEADLINE)
        .thenApplyAsync(
            reply -> {
              load.keysRead += reply.keyValues().size();
              return reply.keyValues().isEmpty() ? null : reply.keyValues().getFirst();
            },
            strand);
  }

  private CompletableFuture<Void> restore(@Nullable KeyValue manifest, Load load) {
    if (manifest == null) {
      return CompletableFuture.completedFuture(null);
    }
    SnapshotManifest parsed = manifest(manifest.value());
    List<ByteString> chunks = new ArrayList<>();
    ByteString prefix = keys.snapshotTry(parsed.getSeq(), parsed.getTry());
    return read(
            prefix,
            new Range(Keys.end(prefix), new PageSize(true), load),
            page -> {
              page.forEach(kv -> chunks.add(kv.value()));
              return CompletableFuture.completedFuture(null);
            })
        .thenComposeAsync(
            nothing -> {
              ByteString bytes = joined(chunks, parsed);
              return specs
                  .fetch(SnapshotCodec.specs(bytes), load.replica, load.revision)
                  .thenRunAsync(
                      () ->
                          load.replica.restored(SnapshotCodec.decode(bytes, load.replica.state())),
                      strand);
            },
            strand);
  }

  static SnapshotManifest manifest(ByteString bytes) {
    try {
      return SnapshotManifest.parseFrom(bytes);
    } catch (InvalidProtocolBufferException e) {
      throw new IllegalStateException("Expected a snapshot's manifest, but the bytes are none", e);
    }
  }

  /** The chunks as one, if they are what the manifest says. */
  static ByteString joined(List<ByteString> chunks, SnapshotManifest manifest) {
    ByteString bytes = ByteString.copyFrom(chunks);
    if (chunks.size() != manifest.getChunks()
        || bytes.size() != manifest.getBytes()
        || crc(bytes) != manifest.getCrc()) {
      throw new IllegalStateException(
          "Expected snapshot "
              + manifest.getSeq()
              + " of "
              + manifest.getBytes()
              + " bytes in "
              + manifest.getChunks()
              + " chunks, but "
              + bytes.size()
              + " bytes in "
              + chunks.size()
              + " are there, or their checksum differs");
    }
    return bytes;
  }

  static int crc(ByteString bytes) {
    CRC32C crc = new CRC32C();
    bytes.asReadOnlyByteBufferList().forEach(crc::update);
    return (int) crc.getValue();
  }

  private CompletableFuture<Void> entries(Load load) {
    Range range = new Range(Keys.end(keys.journal()), new PageSize(load.cautious), load);
    return read(
        keys.journal(load.replica.seq() + 1),
        range,
        page -> {
          List<Entry> entries = page.stream().map(kv -> Entry.decode(kv.value())).toList();
          return specs
              .fetch(SpecStore.missing(entries, load.replica), load.replica, load.revision)
              .thenRunAsync(() -> entries.forEach(load.replica::apply), strand);
        });
  }

  /** A range that is read to its end. */
  private record Range(ByteString to, PageSize size, Load load) {}

  private CompletableFuture<Void> read(
      ByteString from, Range range, Function<List<KeyValue>, CompletableFuture<Void>> use) {
    return take(page(from, range), range, use);
  }

  private CompletableFuture<ListReply> page(ByteString from, Range range) {
    return etcd.list(
        new ListRequest(from, range.to(), range.size().next(), range.load().revision, false),
        DEADLINE);
  }

  /** While a page is used the next one is on its way. */
  private CompletableFuture<Void> take(
      CompletableFuture<ListReply> page,
      Range range,
      Function<List<KeyValue>, CompletableFuture<Void>> use) {
    return page.thenComposeAsync(
        reply -> {
          range.load().keysRead += reply.keyValues().size();
          range.size().learn(reply.keyValues());
          if (!reply.more()) {
            return use.apply(reply.keyValues());
          }
          CompletableFuture<ListReply> next =
              page(Keys.after(reply.keyValues().getLast().key()), range);
          return use.apply(reply.keyValues())
              .thenComposeAsync(nothing -> take(next, range, use), strand);
        },
        strand);
  }
}
