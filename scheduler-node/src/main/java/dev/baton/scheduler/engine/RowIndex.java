package dev.baton.scheduler.engine;

import java.util.Arrays;
import java.util.function.LongUnaryOperator;

/**
 * A hash index over numbered rows whose oldest leave first: open addressing with linear probing, 4
 * bytes a slot, at most half full. It holds row numbers only and asks their owner for a row's hash.
 */
final class RowIndex {
  private static final int EMPTY = -1;
  private static final int ROW_BITS = 0x7fffffff;

  private final LongUnaryOperator hashOf;
  private int[] slots = new int[1024];
  private int used;

  /**
   * @param hashOf the hash of a row that is still there
   */
  RowIndex(LongUnaryOperator hashOf) {
    this.hashOf = hashOf;
    Arrays.fill(slots, EMPTY);
  }

  /** The row with this hash, or -1. {@code first} is the oldest row that is still there. */
  long find(long hash, long first) {
    for (int i = home(hash); slots[i] != EMPTY; i = i + 1 & slots.length - 1) {
      long row = row(slots[i], first);
      if (hashOf.applyAsLong(row) == hash) {
        return row;
      }
    }
    return -1;
  }

  void put(long hash, long row, long first) {
    if (used * 2 >= slots.length) {
      grow(first);
    }
    insert(hash, row);
    used++;
  }

  /** Takes this very row out; its hash must still be known to the owner. */
  void remove(long hash, long row, long first) {
    int i = home(hash);
    while (slots[i] != EMPTY && row(slots[i], first) != row) {
      i = i + 1 & slots.length - 1;
    }
    if (slots[i] == EMPTY) {
      return;
    }
    used--;
    int hole = i;
    for (int j = hole + 1 & slots.length - 1; slots[j] != EMPTY; j = j + 1 & slots.length - 1) {
      int home = home(hashOf.applyAsLong(row(slots[j], first)));
      if ((j - home & slots.length - 1) >= (j - hole & slots.length - 1)) {
        slots[hole] = slots[j];
        hole = j;
      }
    }
    slots[hole] = EMPTY;
  }

  private void grow(long first) {
    int[] old = slots;
    slots = new int[old.length * 2];
    Arrays.fill(slots, EMPTY);
    for (int slot : old) {
      if (slot != EMPTY) {
        long row = row(slot, first);
        insert(hashOf.applyAsLong(row), row);
      }
    }
  }

  private void insert(long hash, long row) {
    int i = home(hash);
    while (slots[i] != EMPTY) {
      i = i + 1 & slots.length - 1;
    }
    slots[i] = (int) (row & ROW_BITS);
  }

  private int home(long hash) {
    return (int) (Retained.mix(hash) & slots.length - 1);
  }

  /** A slot holds the low 31 bits; fewer rows than that are there at once. */
  private static long row(int slot, long first) {
    return first + (slot - first & ROW_BITS);
  }
}
