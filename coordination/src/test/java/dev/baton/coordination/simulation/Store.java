package dev.baton.coordination.simulation;

import com.google.protobuf.ByteString;
import dev.baton.coordination.Etcd;
import dev.baton.coordination.Etcd.KeyValue;
import dev.baton.coordination.EtcdException;
import dev.baton.coordination.EtcdException.Kind;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Iterator;
import java.util.List;
import java.util.NavigableMap;
import java.util.TreeMap;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Keys with all their versions that are not compacted yet, and the changes in the order of
 * revisions.
 */
final class Store {
  private static final byte[] END_OF_ALL = {0};
  private static final int BYTES_BESIDE_A_VERSION = 64;

  private final NavigableMap<byte[], Line> lines = new TreeMap<>(Arrays::compareUnsigned);
  private final List<Logged> log = new ArrayList<>();
  private final List<Consumer<Commit>> observers = new ArrayList<>();
  private final World world;
  private long revision = 1;
  private long compacted;
  private long sizeBytes;

  /** A version of a key; no key value: it was deleted then. */
  private static final class Version {
    private final long revision;
    private final @Nullable KeyValue keyValue;
    private @Nullable Version older;

    Version(long revision, @Nullable KeyValue keyValue, @Nullable Version older) {
      this.revision = revision;
      this.keyValue = keyValue;
      this.older = older;
    }
  }

  private static final class Line {
    private Version newest;

    Line(Version first) {
      this.newest = first;
    }

    /** The version that a reader at this revision sees. */
    @Nullable Version at(long revision) {
      for (Version version = newest; version != null; version = version.older) {
        if (version.revision <= revision) {
          return version;
        }
      }
      return null;
    }
  }

  private record Logged(Commit commit, long nanos) {}

  /** The changes of one revision while they are made: they can be read at once. */
  final class Change {
    private final List<KeyValue> puts = new ArrayList<>();
    private final List<ByteString> deletes = new ArrayList<>();
    private final long next = revision + 1;

    void put(ByteString key, ByteString value, long leaseId) {
      KeyValue now = get(key);
      KeyValue keyValue =
          new KeyValue(key, value, now == null ? next : now.createRevision(), next, leaseId);
      byte[] name = key.toByteArray();
      Line line = lines.get(name);
      if (line == null) {
        lines.put(name, new Line(new Version(next, keyValue, null)));
      } else {
        line.newest = new Version(next, keyValue, line.newest);
      }
      sizeBytes += size(keyValue);
      puts.add(keyValue);
    }

    void delete(ByteString key) {
      delete(lines.get(key.toByteArray()));
    }

    void deleteRange(ByteString from, ByteString to) {
      lines(from, to).forEach(this::delete);
    }

    void deleteOf(long leaseId) {
      for (Line line : lines.values()) {
        KeyValue keyValue = line.newest.keyValue;
        if (keyValue != null && keyValue.leaseId() == leaseId) {
          delete(line);
        }
      }
    }

    /** With what this change has done so far. */
    @Nullable KeyValue get(ByteString key) {
      Line line = lines.get(key.toByteArray());
      return line == null ? null : line.newest.keyValue;
    }

    /** Makes it a revision, unless nothing has changed. */
    void commit() {
      if (puts.isEmpty() && deletes.isEmpty()) {
        return;
      }
      revision = next;
      Commit commit = new Commit(next, puts, deletes);
      log.add(new Logged(commit, world.nanoTime()));
      observers.forEach(observer -> observer.accept(commit));
    }

    private void delete(@Nullable Line line) {
      if (line != null && line.newest.keyValue != null) {
        deletes.add(line.newest.keyValue.key());
        line.newest = new Version(next, null, line.newest);
      }
    }
  }

  Store(World world) {
    this.world = world;
  }

  void observe(Consumer<Commit> observer) {
    observers.add(observer);
  }

  long revision() {
    return revision;
  }

  long compacted() {
    return compacted;
  }

  /** Of all versions that are kept. */
  long sizeBytes() {
    return sizeBytes;
  }

  @Nullable KeyValue get(ByteString key) {
    return get(key, revision);
  }

  @Nullable KeyValue get(ByteString key, long at) {
    Line line = lines.get(key.toByteArray());
    Version version = line == null ? null : line.at(at);
    return version == null ? null : version.keyValue;
  }

  /** All keys from {@code from} (inclusive) to {@code to} (exclusive). */
  List<KeyValue> range(ByteString from, ByteString to, long at) {
    List<KeyValue> found = new ArrayList<>();
    for (Line line : lines(from, to)) {
      Version version = line.at(at);
      if (version != null && version.keyValue != null) {
        found.add(version.keyValue);
      }
    }
    return found;
  }

  Etcd.ListReply list(Etcd.ListRequest request) {
    if (request.revision() > revision) {
      throw new EtcdException(
          Kind.REFUSED, "etcd refused: revision " + request.revision() + " is in the future.");
    }
    if (request.revision() != 0 && request.revision() < compacted) {
      throw new EtcdException(
          Kind.COMPACTED, "etcd refused: revision " + request.revision() + " is compacted.");
    }
    long at = request.revision() == 0 ? revision : request.revision();
    List<KeyValue> found = range(request.from(), request.to(), at);
    boolean more = request.limit() > 0 && found.size() > request.limit();
    if (more) {
      found = found.subList(0, request.limit());
    }
    if (request.keysOnly()) {
      found =
          found.stream()
              .map(kv ->
                  new KeyValue(
                      kv.key(),
                      ByteString.EMPTY,
                      kv.createRevision(),
                      kv.modRevision(),
                      kv.leaseId()))
              .toList();
    }
    return new Etcd.ListReply(List.copyOf(found), more, at);
  }

  Change change() {
    return new Change();
  }

  /** The first revision whose change is still known. */
  long first() {
    return log.isEmpty() ? revision + 1 : log.getFirst().commit().revision();
  }

  /** What made a revision. */
  Commit commit(long of) {
    return log.get((int) (of - first())).commit();
  }

  /** The newest revision at a time that is not compacted. */
  long revisionAsOf(long nanos) {
    for (int i = log.size() - 1; i >= 0; i--) {
      if (log.get(i).nanos() <= nanos) {
        return log.get(i).commit().revision();
      }
    }
    return Math.max(compacted, first() - 1);
  }

  /** Forgets what is older than a revision; false: it is compacted already. */
  boolean compact(long to) {
    if (to > revision) {
      throw new EtcdException(
          Kind.REFUSED, "etcd refused to compact: revision " + to + " is in the future.");
    }
    if (to <= compacted) {
      return false;
    }
    compacted = to;
    int before = 0;
    while (before < log.size() && log.get(before).commit().revision() < to) {
      before++;
    }
    log.subList(0, before).clear();
    for (Iterator<Line> each = lines.values().iterator(); each.hasNext(); ) {
      Line line = each.next();
      Version kept = line.at(to);
      if (kept != null) {
        for (Version old = kept.older; old != null; old = old.older) {
          sizeBytes -= size(old.keyValue);
        }
        kept.older = null;
        if (kept.keyValue == null && line.newest == kept) {
          each.remove();
        }
      }
    }
    return true;
  }

  private Collection<Line> lines(ByteString from, ByteString to) {
    byte[] first = from.toByteArray();
    if (to.isEmpty()) {
      Line one = lines.get(first);
      return one == null ? List.of() : List.of(one);
    }
    byte[] end = to.toByteArray();
    if (Arrays.equals(end, END_OF_ALL)) {
      return lines.tailMap(first, true).values();
    }
    return Arrays.compareUnsigned(first, end) < 0
        ? lines.subMap(first, true, end, false).values()
        : List.of();
  }

  private static long size(@Nullable KeyValue keyValue) {
    return keyValue == null
        ? 0
        : (long) keyValue.key().size() + keyValue.value().size() + BYTES_BESIDE_A_VERSION;
  }
}
