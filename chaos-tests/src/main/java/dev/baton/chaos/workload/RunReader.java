package dev.baton.chaos.workload;

import dev.baton.chaos.history.Observation.AttemptRead;
import dev.baton.chaos.history.Observation.RunRead;
import dev.baton.chaos.history.Observation.TaskRead;
import dev.baton.client.BatonClient;
import dev.baton.client.BatonException;
import dev.baton.proto.v1.GetOutputRequest;
import dev.baton.proto.v1.GetOutputResponse;
import dev.baton.proto.v1.GetRunRequest;
import dev.baton.proto.v1.RefusalCode;
import dev.baton.proto.v1.Run;
import dev.baton.proto.v1.RunState;
import dev.baton.proto.v1.Task;
import dev.baton.proto.v1.TaskState;
import java.util.ArrayList;
import java.util.List;

/** Reads runs with their outputs. Blocks its thread, a virtual one. */
final class RunReader {
  private final BatonClient client;

  RunReader(BatonClient client) {
    this.client = client;
  }

  static boolean hasEnded(Run run) {
    return run.getState() != RunState.RUN_RUNNING && run.getEndedAt() != 0;
  }

  /**
   * One run.
   *
   * @param last it is the reading after everything
   * @param outputs whether they are fetched
   */
  RunRead read(String run, boolean last, boolean outputs) {
    try {
      Run answer = client.get(GetRunRequest.newBuilder().setRunId(run).build()).getRun();
      boolean ended = hasEnded(answer);
      List<TaskRead> tasks = new ArrayList<>();
      for (Task task : answer.getTasksList()) {
        tasks.add(read(run, task, ended && outputs));
      }
      String state = ended ? answer.getState().name() : RunRead.RUNNING;
      return new RunRead(System.nanoTime(), run, last, state, tasks);
    } catch (BatonException e) {
      String state = e.code() == RefusalCode.RUN_NOT_FOUND ? RunRead.NOT_FOUND : RunRead.UNREADABLE;
      return new RunRead(System.nanoTime(), run, last, state, List.of());
    }
  }

  private TaskRead read(String run, Task task, boolean withOutput) {
    List<AttemptRead> attempts =
        task.getAttemptsList().stream()
            .map(a ->
                new AttemptRead(
                    a.getNumber(), a.getWorkerId(), a.getOutcome().name(), a.getReason()))
            .toList();
    String output = "";
    int attempt = 0;
    if (withOutput && task.getState() == TaskState.TASK_SUCCESS) {
      GetOutputResponse answer =
          client.getOutput(
              GetOutputRequest.newBuilder().setRunId(run).setTaskId(task.getTaskId()).build());
      output = answer.getOutputJson();
      attempt = answer.getAttempt();
    }
    return new TaskRead(task.getTaskId(), task.getState().name(), attempts, output, attempt);
  }
}
