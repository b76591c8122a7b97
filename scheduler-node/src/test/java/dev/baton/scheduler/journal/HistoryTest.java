package dev.baton.scheduler.journal;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import dev.baton.coordination.testing.RealEtcd;
import dev.baton.proto.journal.v1.HistoryEntry;
import dev.baton.proto.journal.v1.HistoryRun;
import dev.baton.proto.journal.v1.RunRecord;
import dev.baton.proto.journal.v1.TaskRecord;
import dev.baton.scheduler.model.AttemptRef;
import dev.baton.scheduler.model.Output;
import dev.baton.scheduler.model.RunId;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletionException;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Reading what has left the state, and what is too long for it. */
class HistoryTest extends RealEtcd {
  private static final RunId SHORT = new RunId(1, 1);
  private static final RunId LONG = new RunId(2, 2);

  private History history;
  private Outputs outputs;

  HistoryTest() {
    super(1);
  }

  @BeforeEach
  void fresh() {
    history = new History(etcd, keys, strand);
    outputs = new Outputs(etcd, keys, strand);
  }

  private static RunRecord.Builder record(RunId id, long number) {
    return RunRecord.newBuilder()
        .setRunId(EventCodec.encode(id))
        .setNumber(number)
        .setTenant("default");
  }

  private void writeLong() {
    RunRecord whole =
        record(LONG, 20).addTasks(TaskRecord.newBuilder().setTaskId("a").setOutput("1")).build();
    ByteString bytes = whole.toByteString();
    int half = bytes.size() / 2;
    put(keys.historyPart(20, 0), bytes.substring(0, half));
    put(keys.historyPart(20, 1), bytes.substring(half));
    HistoryEntry entry =
        HistoryEntry.newBuilder()
            .addRuns(HistoryRun.newBuilder().setRecord(record(SHORT, 10).setKey("k")))
            .addRuns(HistoryRun.newBuilder().setRecord(record(LONG, 20)).setParts(2))
            .build();
    put(keys.history(5), entry.toByteString());
  }

  @Test
  void shouldFindRecordsByIdAndByKey() {
    writeLong();
    PastRun found = await(history.find(5, SHORT)).orElseThrow();
    assertEquals(SHORT, found.id());
    assertEquals(10, found.number());
    PastRun.Task task = await(history.find(5, LONG)).orElseThrow().tasks().getFirst();
    assertEquals("a", task.id());
    assertEquals(new Output.Inline("1"), task.output());
    assertEquals(SHORT, await(history.findKey(5, "default", "k")).orElseThrow().id());
    assertEquals(2, await(history.entry(5)).size());
  }

  @Test
  void shouldSayNothingOfWhatIsGone() {
    assertEquals(Optional.empty(), await(history.find(5, SHORT)));
    assertEquals(List.of(), await(history.entry(5)));
    writeLong();
    assertEquals(Optional.empty(), await(history.find(5, new RunId(3, 3))));
    assertEquals(Optional.empty(), await(history.findKey(5, "other", "k")));
    delete(keys.historyPart(20, 1));
    assertEquals(Optional.empty(), await(history.find(5, LONG)));
  }

  @Test
  void shouldSayThatPartsAreDamaged() {
    writeLong();
    put(keys.historyPart(20, 1), ByteString.copyFromUtf8("no record"));
    CompletionException failure =
        assertThrows(CompletionException.class, () -> await(history.find(5, LONG)));
    assertTrue(String.valueOf(failure.getMessage()).contains("the parts of a run's record"));
  }

  @Test
  void shouldWriteLongTextsOnlyForWhoLeads() {
    long term = put(keys.leader(), ByteString.copyFromUtf8("me"));
    AttemptRef attempt = new AttemptRef(7L << 16, 3, 2);
    ByteString json = ByteString.copyFromUtf8("\"ö\"");
    assertTrue(await(outputs.putOutput(attempt, json, term)));
    assertTrue(await(outputs.putParams("run", -1, json, term)));
    assertTrue(await(outputs.putHistoryPart(9, 1, json, term)));
    assertEquals(Optional.of("\"ö\""), await(outputs.output(attempt)));
    assertEquals(Optional.of("\"ö\""), await(outputs.params("run", -1)));
    assertEquals(json, get(keys.historyPart(9, 1)).value());

    put(keys.leader(), ByteString.copyFromUtf8("another"));
    AttemptRef next = new AttemptRef(7L << 16, 3, 3);
    assertFalse(await(outputs.putOutput(next, json, term)));
    assertFalse(await(outputs.putParams("run", 5, json, term)));
    assertFalse(await(outputs.putHistoryPart(9, 2, json, term)));
    assertEquals(Optional.empty(), await(outputs.output(next)));
    assertEquals(Optional.empty(), await(outputs.params("run", 5)));
  }
}
