package dev.baton.scheduler.journal;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import com.google.protobuf.UnknownFieldSet;
import dev.baton.coordination.Keys;
import dev.baton.proto.journal.v1.AttemptEnded;
import dev.baton.proto.journal.v1.JournalEntry;
import dev.baton.scheduler.engine.Event;
import dev.baton.scheduler.model.AttemptRef;
import dev.baton.scheduler.model.Outcome;
import dev.baton.scheduler.model.Output;
import dev.baton.scheduler.model.RunId;
import dev.baton.scheduler.model.RunParams;
import dev.baton.scheduler.model.SpecHash;
import dev.baton.scheduler.model.WorkerLife;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;

class EventCodecTest {
  private static final long TIME = 1_800_000_000_000L;
  private static final List<Outcome> OUTCOMES = List.of(Outcome.values());

  /** Events of all kinds, drawn from a seed. */
  private static final class Draw {
    private final Random random;

    Draw(long seed) {
      this.random = new Random(seed);
    }

    Event event() {
      return switch (random.nextInt(15)) {
        case 0 -> new Event.TermOpened(text());
        case 1 -> new Event.SpecAdded(number(), new SpecHash(bits(), bits(), bits(), bits()));
        case 2 -> new Event.SpecDropped(number());
        case 3 ->
            new Event.RunCreated(
                number(),
                new RunId(bits() >>> 1, bits()),
                number(),
                random.nextBoolean() ? "default" : "t" + text(),
                random.nextBoolean() ? Map.of() : Map.of("a", text(), "b/c", "x"),
                text(),
                text(),
                bits(),
                random.nextBoolean()
                    ? new RunParams.Inline(text())
                    : new RunParams.Stored(bits(), 1 + random.nextInt(1 << 18)));
        case 4 ->
            new Event.WorkerNamed(1 + random.nextInt(1 << 30), new WorkerLife(text(), text()));
        case 5 -> new Event.AttemptAssigned(attempt(), 1 + random.nextInt(1 << 30));
        case 6 -> new Event.AttemptAdopted(attempt(), 1 + random.nextInt(1 << 30));
        case 7 ->
            new Event.AttemptEnded(
                attempt(),
                OUTCOMES.get(random.nextInt(OUTCOMES.size())),
                output(),
                text(),
                random.nextInt(Integer.MAX_VALUE),
                delay());
        case 8 -> new Event.RunCancelled(number(), text(), text());
        case 9 -> new Event.RunTimedOut(number());
        case 10 -> new Event.RunRetired(number(), random.nextInt(100));
        case 11 -> new Event.HistoryDropped(number());
        case 12 -> new Event.WorkerCordoned(text(), text(), text());
        case 13 -> new Event.WorkerUncordoned(text());
        default -> new Event.SnapshotInstalled(number());
      };
    }

    private Output output() {
      return switch (random.nextInt(3)) {
        case 0 -> Output.NONE;
        case 1 -> new Output.Inline("{\"a\":\"" + text() + "\"}");
        default -> new Output.Stored(1 + random.nextInt(1 << 18));
      };
    }

    private long delay() {
      return switch (random.nextInt(4)) {
        case 0 -> Event.AttemptEnded.FINAL;
        case 1 -> 0;
        case 2 -> Duration.ofDays(30).toMillis();
        default -> random.nextInt(1 << 20);
      };
    }

    private AttemptRef attempt() {
      return new AttemptRef(number(), random.nextInt(10_000), 1 + random.nextInt(1000));
    }

    private long number() {
      return bits() >>> (1 + random.nextInt(62));
    }

    private long bits() {
      return random.nextLong();
    }

    private String text() {
      return random.nextInt(4) == 0 ? "" : "ä€😀\"\\" + random.nextInt(1000);
    }
  }

  @Test
  void shouldBringBackEveryKindOfEvent() throws Exception {
    Set<Class<?>> seen = new HashSet<>();
    for (long seed = 0; seed < 2_000; seed++) {
      Event event = new Draw(seed).event();
      seen.add(event.getClass());
      ByteString bytes = EventCodec.encode(event, seed).toByteString();
      var proto = dev.baton.proto.journal.v1.Event.parseFrom(bytes);
      assertEquals(event, EventCodec.decode(proto), () -> "of " + event);
      assertEquals(seed, proto.getAt());
    }
    assertEquals(Set.of(Event.class.getPermittedSubclasses()), seen);
  }

  @Test
  void shouldBringBackWholeEntriesWithTheTimesOfTheirEvents() {
    OpenEntry open = new OpenEntry(new Keys("test"), 7, 3, TIME);
    Draw draw = new Draw(1);
    Event first = draw.event();
    Event second = draw.event();
    long late = TIME + Duration.ofDays(40).toMillis();
    assertEquals(TIME + 5, open.add(first, TIME + 5));
    assertEquals(TIME + 5, open.add(second, TIME + 2), "time never goes back");
    assertEquals(late, open.add(second, late), "the entry was held open by a stalled etcd");
    Entry entry = Entry.decode(open.encodeEntry());
    assertEquals(7, entry.term());
    assertEquals(3, entry.seq());
    assertEquals(TIME, entry.time());
    assertEquals(
        List.of(
            new Entry.Stamped(first, TIME + 5),
            new Entry.Stamped(second, TIME + 5),
            new Entry.Stamped(second, late)),
        entry.events());
    assertEquals(late, entry.lastAt());
    assertEquals(late, StateLoader.head(open.encodeHead()).getTime());
  }

  @Test
  void shouldNotGuessWhatItDoesNotKnow() {
    var unknownKind =
        dev.baton.proto.journal.v1.Event.newBuilder()
            .setUnknownFields(
                UnknownFieldSet.newBuilder()
                    .addField(
                        99,
                        UnknownFieldSet.Field.newBuilder()
                            .addLengthDelimited(ByteString.EMPTY)
                            .build())
                    .build())
            .build();
    assertThrows(UnknownEventException.class, () -> EventCodec.decode(unknownKind));
    ByteString entry = JournalEntry.newBuilder().addEvents(unknownKind).build().toByteString();
    assertThrows(UnknownEventException.class, () -> Entry.decode(entry));
    var unknownOutcome =
        dev.baton.proto.journal.v1.Event.newBuilder()
            .setAttemptEnded(AttemptEnded.newBuilder().setAttempt(1).setOutcomeValue(77))
            .build();
    assertThrows(UnknownEventException.class, () -> EventCodec.decode(unknownOutcome));
    assertThrows(
        IllegalStateException.class, () -> Entry.decode(ByteString.copyFromUtf8("no entry")));
  }

  @Test
  void shouldSpendFewBytesOnWhatComesByTheThousand() {
    long run = 3_000_000L << 16 | 40;
    AttemptRef attempt = new AttemptRef(run, 120, 1);
    int after = 100;
    int assigned = sizeInEntry(new Event.AttemptAssigned(attempt, 12), after);
    int ended =
        sizeInEntry(
            new Event.AttemptEnded(
                attempt, Outcome.SUCCESS, Output.NONE, "", 1_500, Event.AttemptEnded.FINAL),
            after);
    assertTrue(assigned <= 22, () -> "an assignment takes " + assigned + " bytes");
    assertTrue(ended <= 22, () -> "an end takes " + ended + " bytes");
  }

  @Test
  void shouldSpendAtMostEightyBytesOnATaskOfADiamond() {
    long run = 3_000_000L << 16 | 40;
    int bytes =
        sizeInEntry(
            new Event.RunCreated(
                run,
                new RunId(0x0198_0000_1111_2222L, 0x3333_4444_5555_6666L),
                1_000L << 16,
                "default",
                Map.of(),
                "",
                "",
                0x1234_5678_9abc_def0L,
                new RunParams.Inline("")),
            100);
    for (int task = 0; task < 5; task++) {
      AttemptRef attempt = new AttemptRef(run, task, 1);
      bytes += sizeInEntry(new Event.AttemptAssigned(attempt, 2), 100);
      bytes +=
          sizeInEntry(
              new Event.AttemptEnded(
                  attempt, Outcome.SUCCESS, Output.NONE, "", 150, Event.AttemptEnded.FINAL),
              100);
    }
    bytes += sizeInEntry(new Event.RunRetired(run, 0), 100);
    int perTask = bytes / 5;
    assertTrue(perTask <= 80, () -> "a task takes " + perTask + " bytes");
  }

  private static int sizeInEntry(Event event, int after) {
    JournalEntry empty = JournalEntry.getDefaultInstance();
    return empty.toBuilder().addEvents(EventCodec.encode(event, after)).build().getSerializedSize();
  }
}
