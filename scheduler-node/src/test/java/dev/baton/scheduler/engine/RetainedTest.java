package dev.baton.scheduler.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.baton.scheduler.model.RunId;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.Iterator;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.Objects;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class RetainedTest {
  /** What is expected to be there. */
  private record Kept(RunId id, String tenant, String key, long body, long seq, long at) {}

  private final Retained retained = new Retained(99);
  private final Deque<Kept> model = new ArrayDeque<>();
  private long seq = 1;
  private long drawn;

  private void add(Random random) {
    seq += random.nextInt(3);
    drawn++;
    Kept kept =
        new Kept(
            new RunId(random.nextLong(), drawn),
            random.nextBoolean() ? "default" : "t",
            random.nextInt(3) == 0 ? "" : "key-" + drawn,
            random.nextLong(),
            seq,
            1_800_000_000_000L + drawn * 1000);
    model.add(kept);
    retained.add(drawn, kept.id(), kept.tenant(), kept.key(), kept.body(), kept.seq(), kept.at());
  }

  private void drop(long upTo) {
    while (!model.isEmpty() && model.getFirst().seq() <= upTo) {
      Kept gone = model.removeFirst();
      if (model.size() % 64 == 0) {
        assertFind(gone, true);
      }
    }
    retained.dropUpTo(upTo);
  }

  private void assertFind(Kept kept, boolean there) {
    if (!there) {
      assertNull(retained.find(kept.id()));
      assertNull(kept.key().isEmpty() ? null : retained.findKey(kept.tenant(), kept.key()));
      return;
    }
    Retained.Row row = Objects.requireNonNull(retained.find(kept.id()));
    assertEquals(kept.body(), row.bodyHash());
    assertEquals(kept.seq(), row.historySeq());
    assertEquals(kept.at(), row.retiredAt());
    if (!kept.key().isEmpty()) {
      assertEquals(row, retained.findKey(kept.tenant(), kept.key()));
      assertNull(retained.findKey(kept.tenant() + "x", kept.key()));
    }
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8})
  void shouldKnowExactlyWhatItShould(long seed) {
    Random random = new Random(seed);
    List<Kept> gone = new ArrayList<>();
    for (int round = 0; round < 60; round++) {
      int adds = random.nextInt(random.nextInt(10) == 0 ? 9000 : 400);
      for (int i = 0; i < adds; i++) {
        add(random);
      }
      if (random.nextInt(3) > 0 && !model.isEmpty()) {
        gone.add(model.getFirst());
        long span = model.getLast().seq() - model.getFirst().seq();
        drop(
            random.nextInt(8) == 0
                ? seq
                : model.getFirst().seq() + random.nextInt((int) span / 2 + 1));
      }
      assertSame();
    }
    gone.forEach(kept -> assertFind(kept, false));
  }

  private void assertSame() {
    assertEquals(model.size(), retained.size());
    Iterator<Retained.Row> rows = retained.rows().iterator();
    int i = 0;
    for (Kept kept : model) {
      assertEquals(kept.body(), rows.next().bodyHash());
      if (i++ % 37 == 0) {
        assertFind(kept, true);
      }
    }
    assertFalse(rows.hasNext());
    Retained.Row oldest = retained.oldest();
    assertEquals(
        model.isEmpty() ? -1 : model.getFirst().seq(), oldest == null ? -1 : oldest.historySeq());
  }

  @Test
  void shouldFindEveryOneOfMany() {
    Random random = new Random(5);
    for (int i = 0; i < 100_000; i++) {
      add(random);
    }
    drop(model.getFirst().seq() + 30_000);
    model.forEach(kept -> assertFind(kept, true));
    for (int i = 0; i < 10_000; i++) {
      assertNull(retained.find(new RunId(1, -1 - i)));
    }
  }

  @Test
  void shouldBeTheSameAfterARestore() {
    Random random = new Random(6);
    for (int i = 0; i < 10_000; i++) {
      add(random);
    }
    drop(seq / 2);
    Retained loaded = new Retained(99);
    retained.rows().forEach(loaded::restore);
    Iterator<Retained.Row> rows = loaded.rows().iterator();
    retained.rows().forEach(row -> assertEquals(row, rows.next()));
    model.forEach(kept -> assertEquals(retained.find(kept.id()), loaded.find(kept.id())));
  }

  @Test
  void shouldRememberWhenARunLeftAlsoAfter2038() {
    long at = 4_000_000_000_000L;
    retained.add(1, new RunId(1, 1), "t", "", 0, 1, at);
    assertEquals(at, Objects.requireNonNull(retained.oldest()).retiredAt());
  }

  @Test
  void shouldListHistoryEntriesNewestFirstAndEachOnce() {
    for (long s : new long[] {3, 3, 3, 5, 8, 8}) {
      retained.add(drawn, new RunId(1, drawn++), "t", "", 0, s, 0);
    }
    assertEquals(List.of(8L, 5L, 3L), seqs(Long.MAX_VALUE));
    assertEquals(List.of(8L, 5L, 3L), seqs(8));
    assertEquals(List.of(5L, 3L), seqs(7));
    assertEquals(List.of(3L), seqs(3));
    assertEquals(List.of(), seqs(2));
    retained.dropUpTo(3);
    assertEquals(List.of(8L, 5L), seqs(9));
    retained.dropUpTo(100);
    assertEquals(List.of(), seqs(9));
    assertThrows(NoSuchElementException.class, () -> retained.historySeqsDescending(9).next());
  }

  private List<Long> seqs(long atMost) {
    List<Long> seqs = new ArrayList<>();
    retained.historySeqsDescending(atMost).forEachRemaining(seqs::add);
    return seqs;
  }
}
