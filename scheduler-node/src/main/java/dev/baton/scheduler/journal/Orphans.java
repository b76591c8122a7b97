package dev.baton.scheduler.journal;

import com.google.protobuf.ByteString;
import dev.baton.coordination.Keys;
import dev.baton.coordination.Txn.Op;
import dev.baton.proto.journal.v1.HistoryRun;
import dev.baton.proto.journal.v1.TaskRecord;
import dev.baton.scheduler.engine.ClusterState;
import dev.baton.scheduler.engine.Run;
import dev.baton.scheduler.model.RunId;
import dev.baton.scheduler.model.RunParams;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Set;

/** Which keys beside the journal somebody still needs. */
public final class Orphans {
  private final Keys keys;
  private final ClusterState state;
  private Set<Long> retainedRuns = Set.of();

  public Orphans(Keys keys, ClusterState state) {
    this.keys = keys;
    this.state = state;
  }

  /** A look begins: what is retained now is what {@link #isNamed} goes by. */
  public void beginLook() {
    retainedRuns = state.retained().runs();
  }

  /** The folders in which something can be left behind. */
  public List<ByteString> folders() {
    return List.of(
        keys.payloads(), keys.params(), keys.historyParts(), keys.specs(), keys.snapshots());
  }

  /** What a dropped record's run has left beside it. */
  public List<Op> besideRecord(HistoryRun run) {
    List<Op> ops = new ArrayList<>();
    long number = run.getRecord().getNumber();
    boolean isLong = run.getParts() > 0;
    if (isLong) {
      ops.add(range(keys.historyParts(number)));
    }
    if (isLong || run.getRecord().getTasksList().stream().anyMatch(Orphans::isStored)) {
      ops.add(range(keys.payloads(number)));
    }
    if (run.getRecord().getStoredParamsSize() > 0) {
      ops.add(range(keys.params(EventCodec.runId(run.getRecord().getRunId()).toString())));
    }
    return ops;
  }

  private static boolean isStored(TaskRecord task) {
    return task.getStoredOutputSize() > 0;
  }

  private static Op range(ByteString prefix) {
    return new Op.DeleteRange(prefix, Keys.end(prefix));
  }

  /** Whether the state, or the snapshot that is to be loaded, names this key. Unsure is yes. */
  public boolean isNamed(ByteString key) {
    try {
      return isNamedByNumber(key);
    } catch (IllegalArgumentException e) {
      // No key of ours is named so.
      return true;
    }
  }

  private boolean isNamedByNumber(ByteString key) {
    if (key.startsWith(keys.specs())) {
      return state.isSpecNamed(Keys.numberOf(key));
    }
    String[] parts = key.toStringUtf8().substring(keys.prefix().length()).split("/", -1);
    if (parts.length < 3) {
      return true;
    }
    if (key.startsWith(keys.snapshots())) {
      return HexFormat.fromHexDigitsToLong(parts[1]) >= state.installedSnapshot();
    }
    if (key.startsWith(keys.params())) {
      return areParamsNamed(parts[1], HexFormat.fromHexDigitsToLong(parts[2]));
    }
    long run = HexFormat.fromHexDigitsToLong(parts[1]);
    return state.run(run) != null || retainedRuns.contains(run);
  }

  private boolean areParamsNamed(String runId, long nonce) {
    RunId id = RunId.parse(runId).orElse(null);
    if (id == null) {
      return true;
    }
    Run run = state.run(id);
    return run != null
        ? run.created().params() instanceof RunParams.Stored(long named, int size) && named == nonce
        : state.retained().find(id) != null;
  }
}
