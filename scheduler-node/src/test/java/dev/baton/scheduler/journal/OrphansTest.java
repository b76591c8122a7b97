package dev.baton.scheduler.journal;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import dev.baton.coordination.Keys;
import dev.baton.coordination.Txn.Op;
import dev.baton.proto.journal.v1.HistoryRun;
import dev.baton.proto.journal.v1.RunRecord;
import dev.baton.proto.journal.v1.TaskRecord;
import dev.baton.scheduler.engine.Command;
import dev.baton.scheduler.engine.Event;
import dev.baton.scheduler.engine.Run;
import dev.baton.scheduler.model.RunId;
import dev.baton.scheduler.model.RunParams;
import dev.baton.scheduler.testing.Workflows;
import java.util.List;
import org.junit.jupiter.api.Test;

class OrphansTest {
  private final Keys keys = new Keys("test");
  private final RandomLeader leader = new RandomLeader(keys, 1);
  private final Orphans orphans = new Orphans(keys, leader.replica.state());

  private Run submit(String name, RunParams params) {
    leader.submit(Workflows.definition(Workflows.one(name)), params, "");
    return leader.replica.state().runsDescending().iterator().next();
  }

  private void retire(Run run) {
    leader.decide(new Command.Cancel(new Command.CallId(1), run.id(), "", ""));
    leader.decide(new Command.Retire(run.number(), 0));
  }

  @Test
  void shouldNameWhatALiveOrARetainedRunLeft() {
    Run live = submit("live", new RunParams.Stored(5, 3000));
    Run ended = submit("ended", new RunParams.Stored(6, 3000));
    retire(ended);
    orphans.beginLook();
    for (Run run : List.of(live, ended)) {
      assertTrue(orphans.isNamed(keys.payload(run.number(), 0, 1)));
      assertTrue(orphans.isNamed(keys.historyPart(run.number(), 0)));
    }
    assertTrue(orphans.isNamed(keys.params(live.id().toString(), 5)));
    assertTrue(orphans.isNamed(keys.params(ended.id().toString(), 6)));
  }

  @Test
  void shouldNotNameWhatNobodyDecided() {
    Run live = submit("live", new RunParams.Stored(5, 3000));
    orphans.beginLook();
    assertFalse(orphans.isNamed(keys.params(live.id().toString(), 6)), "another try of it");
    assertFalse(orphans.isNamed(keys.params(new RunId(1, 1).toString(), 5)));
    assertFalse(orphans.isNamed(keys.payload(1L << 40, 0, 1)));
    assertFalse(orphans.isNamed(keys.historyPart(1L << 40, 0)));
    assertFalse(orphans.isNamed(keys.spec(1L << 40)));
  }

  @Test
  void shouldNotNameWhatADroppedRunLeft() {
    Run ended = submit("ended", new RunParams.Stored(6, 3000));
    retire(ended);
    leader.close();
    leader.decide(new Command.DropHistory(1));
    orphans.beginLook();
    assertFalse(orphans.isNamed(keys.payload(ended.number(), 0, 1)));
    assertFalse(orphans.isNamed(keys.params(ended.id().toString(), 6)));
  }

  @Test
  void shouldNameADroppedDefinitionUntilNobodyWhoLoadsNeedsIt() {
    Run ended = submit("ended", new RunParams.Inline(""));
    long spec = ended.created().spec();
    retire(ended);
    assertTrue(orphans.isNamed(keys.spec(spec)));
    leader.decide(new Command.DropSpec(spec));
    leader.close();
    assertTrue(orphans.isNamed(keys.spec(spec)), "the journal names it");
    leader.add(new Event.SnapshotInstalled(1));
    assertFalse(orphans.isNamed(keys.spec(spec)));
  }

  @Test
  void shouldNameSnapshotsFromTheInstalledOneOn() {
    leader.add(new Event.SnapshotInstalled(50));
    assertFalse(orphans.isNamed(keys.snapshotChunk(49, "a", 0)));
    assertTrue(orphans.isNamed(keys.snapshotChunk(50, "a", 0)));
    assertTrue(orphans.isNamed(keys.snapshotChunk(51, "a", 0)));
  }

  @Test
  void shouldLeaveAloneWhatItCannotRead() {
    for (String name :
        List.of(
            "specs/readme",
            "payloads/x",
            "payloads/of-no-run/0/1",
            "params/",
            "params/not-an-id/12",
            "params/" + new RunId(1, 1) + "/not-a-nonce",
            "snapshots/new/a/0",
            "history-parts/zz/0")) {
      ByteString key = ByteString.copyFromUtf8(keys.prefix() + name);
      assertTrue(orphans.isNamed(key), name);
    }
  }

  @Test
  void shouldFindWhatStandsBesideARecord() {
    RunId id = new RunId(1, 1);
    RunRecord plain = RunRecord.newBuilder().setNumber(9).setRunId(EventCodec.encode(id)).build();
    assertEquals(List.of(), beside(plain, 0));
    assertEquals(
        List.of(range(keys.payloads(9))),
        beside(
            plain.toBuilder().addTasks(TaskRecord.newBuilder().setStoredOutputSize(3000)).build(),
            0));
    assertEquals(
        List.of(range(keys.params(id.toString()))),
        beside(plain.toBuilder().setStoredParamsSize(3000).build(), 0));
    assertEquals(List.of(range(keys.historyParts(9)), range(keys.payloads(9))), beside(plain, 2));
  }

  private List<Op> beside(RunRecord record, int parts) {
    return orphans.besideRecord(HistoryRun.newBuilder().setRecord(record).setParts(parts).build());
  }

  private static Op range(ByteString prefix) {
    return new Op.DeleteRange(prefix, Keys.end(prefix));
  }
}
