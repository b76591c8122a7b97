package dev.baton.scheduler.journal;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import dev.baton.coordination.Keys;
import dev.baton.coordination.Limits;
import dev.baton.proto.journal.v1.HistoryRun;
import dev.baton.proto.journal.v1.RunRecord;
import dev.baton.scheduler.engine.Event;
import dev.baton.scheduler.model.AttemptRef;
import dev.baton.scheduler.model.Outcome;
import dev.baton.scheduler.model.Output;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** What fits by its own word is never refused by the last check before etcd. */
class OpenEntryTest {
  private final Keys keys = new Keys("n".repeat(32));
  private final OpenEntry entry = new OpenEntry(keys, 1L << 40, 1L << 40, 1_800_000_000_000L);

  private Optional<String> excess() {
    return Limits.check(entry.encodeEntry().size(), entry.encodeBeside());
  }

  @Test
  void shouldTakeEventsUpToTheLimitOfAnEntry() {
    Event event =
        new Event.AttemptEnded(
            new AttemptRef(1L << 60, 9_999, 100),
            Outcome.SUCCESS,
            new Output.Inline("x".repeat(2048)),
            "",
            1,
            Event.AttemptEnded.FINAL);
    int events = 0;
    while (entry.hasRoom(2100, 0)) {
      entry.add(event, 1_800_000_000_000L + events);
      events++;
    }
    assertEquals(Optional.empty(), excess());
    assertTrue(entry.encodeEntry().size() > Limits.ENTRY_BYTES - 3000, "it is nearly full");
    assertEquals(events, entry.events());
    assertTrue(entry.bytes() >= entry.encodeEntry().size(), "it never counts too little");
  }

  @Test
  void shouldTakeSmallEventsUpToTheLimitOfTheirNumbers() {
    int events = 0;
    while (entry.hasRoom(8, 0)) {
      entry.add(new Event.RunTimedOut(1), 1_800_000_000_000L);
      events++;
    }
    assertEquals(Optional.empty(), excess());
    assertTrue(entry.nextNumber() >>> 16 == 1L << 40, "the index stays in its 16 bits");
    assertTrue(events > 40_000);
  }

  @Test
  void shouldTakeKeysBesideUpToTheirLimit() {
    entry.add(new Event.TermOpened("a"), 0);
    ByteString value = ByteString.copyFrom(new byte[6_000]);
    int keysBeside = 0;
    while (entry.hasRoom(10, value.size())) {
      entry.addPut(keys.spec(keysBeside), value);
      keysBeside++;
    }
    ByteString small = ByteString.copyFrom(new byte[10]);
    while (entry.hasRoom(10, small.size())) {
      entry.addPut(keys.spec(keysBeside), small);
      keysBeside++;
    }
    entry.addHistory(HistoryRun.getDefaultInstance());
    assertEquals(Optional.empty(), excess());
    assertTrue(keysBeside >= 80, "many fit");
    assertTrue(entry.hasRoom(10, 0), "events without a key still fit");
  }

  @Test
  void shouldTakeManyKeysUpToTheLimitOfATransaction() {
    entry.add(new Event.TermOpened("a"), 0);
    int keysBeside = 0;
    while (entry.hasRoom(10, 10)) {
      entry.addPut(keys.spec(keysBeside), ByteString.copyFrom(new byte[10]));
      keysBeside++;
    }
    entry.addHistory(HistoryRun.getDefaultInstance());
    assertEquals(Optional.empty(), excess());
    assertEquals(JournalLimits.KEYS_BESIDE, keysBeside);
  }

  @Test
  void shouldTakeRecordsOfTheHistoryUpToTheLimit() {
    entry.add(new Event.TermOpened("a"), 0);
    HistoryRun record =
        HistoryRun.newBuilder()
            .setRecord(RunRecord.newBuilder().setReason("x".repeat(500)))
            .build();
    int records = 0;
    while (entry.hasRoom(20, record.getSerializedSize())) {
      entry.addHistory(record);
      records++;
    }
    assertEquals(Optional.empty(), excess());
    assertTrue(records > 1_000);
    assertFalse(entry.hasRoom(20, record.getSerializedSize()));
  }
}
