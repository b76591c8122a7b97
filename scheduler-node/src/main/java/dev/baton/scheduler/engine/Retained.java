package dev.baton.scheduler.engine;

import dev.baton.scheduler.model.RunId;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * What is still known of runs that have left the state: the number, hashes of the id, of tenant and
 * key, and of the body; the history entry; and when it left. 44 bytes a run, and about 16 for the
 * two indices, so that idempotency is decided without a look at etcd. Rows leave in the order in
 * which they came.
 *
 * <p>Hashes have 64 bits, salted with the cluster's generation: among a million runs two collide
 * with a chance of 3 in 100 million, and then a new run is taken for an old one.
 */
public final class Retained {
  private static final int BLOCK = 4096;

  private final long salt;
  private final List<Block> blocks = new ArrayList<>();
  private final RowIndex byId = new RowIndex(row -> block(row).idHash[place(row)]);
  private final RowIndex byKey = new RowIndex(row -> block(row).keyHash[place(row)]);
  private long first;
  private long next;

  Retained(long salt) {
    this.salt = salt;
  }

  /** A retained run. */
  public record Row(
      long run, long idHash, long keyHash, long bodyHash, long historySeq, long retiredAt) {}

  private static final class Block {
    final long[] run = new long[BLOCK];
    final long[] idHash = new long[BLOCK];
    final long[] keyHash = new long[BLOCK];
    final long[] bodyHash = new long[BLOCK];
    final long[] historySeq = new long[BLOCK];

    /** Unsigned: good until 2106. */
    final int[] retiredAtSeconds = new int[BLOCK];
  }

  public int size() {
    return Math.toIntExact(next - first);
  }

  public @Nullable Row find(RunId id) {
    return find(byId, hash(id));
  }

  /** The key must not be empty. */
  public @Nullable Row findKey(String tenant, String key) {
    return find(byKey, hash(tenant, key));
  }

  /** The numbers of all rows. */
  public Set<Long> runs() {
    Set<Long> runs = HashSet.newHashSet(size());
    rows().forEach(row -> runs.add(row.run()));
    return runs;
  }

  /** The oldest row. */
  public @Nullable Row oldest() {
    return size() == 0 ? null : row(first);
  }

  /**
   * History entries that hold retained runs, newest first, from the one at or before {@code
   * atMost}.
   */
  public Iterator<Long> historySeqsDescending(long atMost) {
    return new Iterator<>() {
      private long row = lastUpTo(atMost);
      private long last = Long.MAX_VALUE;

      private void skip() {
        while (row >= first && historySeq(row) == last) {
          row--;
        }
      }

      @Override
      public boolean hasNext() {
        skip();
        return row >= first;
      }

      @Override
      public Long next() {
        skip();
        if (row < first) {
          throw new NoSuchElementException();
        }
        last = historySeq(row);
        row--;
        return last;
      }
    };
  }

  /** The newest row at or before a history entry, found by halves: entries only grow. */
  private long lastUpTo(long historySeq) {
    long low = first;
    long high = next;
    while (low < high) {
      long middle = (low + high) / 2;
      if (historySeq(middle) <= historySeq) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low - 1;
  }

  private long historySeq(long row) {
    return block(row).historySeq[place(row)];
  }

  /** All rows, oldest first. */
  public Iterable<Row> rows() {
    return () ->
        new Iterator<>() {
          private long at = first;

          @Override
          public boolean hasNext() {
            return at < next;
          }

          @Override
          public Row next() {
            return row(at++);
          }
        };
  }

  void add(long run, RunId id, String tenant, String key, long bodyHash, long historySeq, long at) {
    restore(
        new Row(run, hash(id), key.isEmpty() ? 0 : hash(tenant, key), bodyHash, historySeq, at));
  }

  void restore(Row row) {
    int place = place(next);
    if (place == 0 || blocks.isEmpty()) {
      blocks.add(new Block());
    }
    Block block = blocks.getLast();
    block.run[place] = row.run();
    block.idHash[place] = row.idHash();
    block.keyHash[place] = row.keyHash();
    block.bodyHash[place] = row.bodyHash();
    block.historySeq[place] = row.historySeq();
    block.retiredAtSeconds[place] = (int) (row.retiredAt() / 1000);
    byId.put(row.idHash(), next, first);
    if (row.keyHash() != 0) {
      byKey.put(row.keyHash(), next, first);
    }
    next++;
  }

  /** Forgets all rows of history entries up to and with this one. */
  void dropUpTo(long historySeq) {
    while (size() > 0 && historySeq(first) <= historySeq) {
      Row row = row(first);
      byId.remove(row.idHash(), first, first);
      if (row.keyHash() != 0) {
        byKey.remove(row.keyHash(), first, first);
      }
      first++;
      if (first % BLOCK == 0) {
        blocks.remove(0);
      }
    }
  }

  private @Nullable Row find(RowIndex index, long hash) {
    long row = index.find(hash, first);
    return row < 0 ? null : row(row);
  }

  private Row row(long number) {
    Block block = block(number);
    int place = place(number);
    return new Row(
        block.run[place],
        block.idHash[place],
        block.keyHash[place],
        block.bodyHash[place],
        block.historySeq[place],
        Integer.toUnsignedLong(block.retiredAtSeconds[place]) * 1000);
  }

  private Block block(long row) {
    return blocks.get((int) (row / BLOCK - first / BLOCK));
  }

  private static int place(long row) {
    return (int) (row % BLOCK);
  }

  private long hash(RunId id) {
    return mix(mix(salt ^ id.high()) ^ id.low());
  }

  private long hash(String tenant, String key) {
    long hash = mix(salt ^ tenant.length());
    for (int i = 0; i < tenant.length(); i++) {
      hash = mix(hash ^ tenant.charAt(i));
    }
    for (int i = 0; i < key.length(); i++) {
      hash = mix(hash ^ key.charAt(i));
    }
    return hash == 0 ? 1 : hash;
  }

  /**
   * The finalizer of SplitMix64 (Steele, Lea, Flood: Fast splittable pseudorandom number
   * generators, 2014).
   */
  static long mix(long z) {
    z += 0x9e3779b97f4a7c15L;
    z = (z ^ z >>> 30) * 0xbf58476d1ce4e5b9L;
    z = (z ^ z >>> 27) * 0x94d049bb133111ebL;
    return z ^ z >>> 31;
  }
}
