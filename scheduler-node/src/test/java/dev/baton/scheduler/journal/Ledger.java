package dev.baton.scheduler.journal;

import com.google.protobuf.ByteString;
import dev.baton.coordination.Etcd.KeyValue;
import dev.baton.coordination.Keys;
import dev.baton.proto.journal.v1.Head;
import dev.baton.proto.journal.v1.SnapshotManifest;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BiFunction;
import org.jspecify.annotations.Nullable;

/** Reads what is stored, for tests outside this package, at one go and without a client. */
public final class Ledger {
  private Ledger() {}

  public static Entry entry(ByteString bytes) {
    return Entry.decode(bytes);
  }

  public static Head head(ByteString bytes) {
    return StateLoader.head(bytes);
  }

  /** The state before the first entry. */
  public static Replica empty(long generation) {
    return new Replica(generation);
  }

  public static void apply(Replica replica, Entry entry) {
    replica.apply(entry);
  }

  /**
   * What a node that loads now would get; IllegalStateException: it would get nothing.
   *
   * @param range reads keys from the first (inclusive) to the second (exclusive)
   */
  public static Replica load(
      long generation, Keys keys, BiFunction<ByteString, ByteString, List<KeyValue>> range) {
    Replica replica = new Replica(generation);
    KeyValue manifest = one(keys.snapshot(), range);
    if (manifest != null) {
      SnapshotManifest parsed = StateLoader.manifest(manifest.value());
      ByteString prefix = keys.snapshotTry(parsed.getSeq(), parsed.getTry());
      List<ByteString> chunks = new ArrayList<>();
      range.apply(prefix, Keys.end(prefix)).forEach(chunk -> chunks.add(chunk.value()));
      ByteString bytes = StateLoader.joined(chunks, parsed);
      SnapshotCodec.specs(bytes).forEach(number -> define(number, replica, keys, range));
      replica.restored(SnapshotCodec.decode(bytes, replica.state()));
    }
    ByteString first = keys.journal(replica.seq() + 1);
    for (KeyValue stored : range.apply(first, Keys.end(keys.journal()))) {
      Entry entry = Entry.decode(stored.value());
      SpecStore.missing(List.of(entry), replica)
          .forEach(number -> define(number, replica, keys, range));
      replica.apply(entry);
    }
    return replica;
  }

  private static void define(
      long number,
      Replica replica,
      Keys keys,
      BiFunction<ByteString, ByteString, List<KeyValue>> range) {
    KeyValue stored = one(keys.spec(number), range);
    if (stored == null) {
      throw new IllegalStateException("definition " + number + " is absent");
    }
    replica.definitions().put(number, SpecStore.decode(stored.value()));
  }

  private static @Nullable KeyValue one(
      ByteString key, BiFunction<ByteString, ByteString, List<KeyValue>> range) {
    List<KeyValue> found = range.apply(key, Keys.after(key));
    return found.isEmpty() ? null : found.getFirst();
  }
}
