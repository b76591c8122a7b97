package dev.baton.cli;

import dev.baton.cli.program.Terminal;
import dev.baton.cli.program.Terminal.Style;
import dev.baton.client.Endpoint;
import dev.baton.proto.v1.Attempt;
import dev.baton.proto.v1.AttemptOutcome;
import dev.baton.proto.v1.Run;
import dev.baton.proto.v1.RunState;
import dev.baton.proto.v1.Task;
import dev.baton.proto.v1.TaskCounts;
import dev.baton.proto.v1.TaskState;
import dev.baton.proto.v1.WatchRunResponse;
import java.time.Instant;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Shows a watch to people: a line for every start and end of a task, and below them, where somebody
 * looks at a terminal, a bar of the whole that is drawn again and again.
 */
final class TextWatch implements WatchView {
  private static final DateTimeFormatter CLOCK = DateTimeFormatter.ofPattern("HH:mm:ss");
  private static final int BAR = 24;
  private static final int MAX_NAME = 32;

  /** So many lines of what happened before the watch began are shown one by one. */
  private static final int MAX_EARLIER = 40;

  private final Terminal terminal;
  private final Map<String, Task> known = new HashMap<>();
  private @Nullable Run run;
  private String leader = "";
  private int nameWidth = 4;
  private boolean barShown;

  TextWatch(Terminal terminal) {
    this.terminal = terminal;
  }

  @Override
  public synchronized void onChange(WatchRunResponse change) {
    boolean first = run == null;
    Run before = run;
    run = change.getRun();
    for (Task task : change.getTasksList()) {
      nameWidth = Math.min(MAX_NAME, Math.max(nameWidth, task.getTaskId().length()));
    }
    List<String> lines = new ArrayList<>();
    for (Task task : change.getTasksList()) {
      lines.addAll(linesOf(known.put(task.getTaskId(), task), task));
    }
    if (first && lines.size() > MAX_EARLIER) {
      note(lines.size() + " starts and ends of tasks came before; 'baton get' shows them");
    } else {
      lines.forEach(this::line);
    }
    if (run.getCancelling() && (before == null || !before.getCancelling())) {
      note("the run is being cancelled" + because(run.getReason()));
    }
    bar();
  }

  @Override
  public synchronized void onLeader(String nodeId, long term) {
    if (!leader.isEmpty()) {
      note(
          leader.equals(nodeId)
              ? nodeId + " leads again, in term " + term
              : nodeId + " leads now, in term " + term + "; before it was " + leader);
    }
    leader = nodeId;
  }

  @Override
  public synchronized void onReopened(Endpoint endpoint, String reason) {
    note(reason + "; the watch goes on at " + endpoint);
  }

  @Override
  public synchronized void tick() {
    bar();
  }

  @Override
  public synchronized void end(Run last) {
    run = last;
    bar();
    interrupt();
    long took = last.getEndedAt() - last.getCreatedAt();
    terminal.println(
        "Run "
            + last.getRunId()
            + " "
            + terminal.style(style(last.getState()), Json.state(last.getState()))
            + " after "
            + Times.duration(took)
            + because(last.getReason()));
  }

  /** Leaves the line of the bar. */
  @Override
  public synchronized void interrupt() {
    if (barShown) {
      barShown = false;
      terminal.println("");
    }
  }

  /** What is new about a task; nothing for one that waits as before. */
  private List<String> linesOf(@Nullable Task before, Task task) {
    List<String> lines = new ArrayList<>();
    int seen = before == null ? 0 : before.getAttemptsCount();
    boolean over = isOver(task.getState());
    for (int i = Math.max(0, seen - 1); i < task.getAttemptsCount(); i++) {
      Attempt attempt = task.getAttempts(i);
      boolean running = attempt.getOutcome() == AttemptOutcome.ATTEMPT_OUTCOME_UNSPECIFIED;
      boolean last = i == task.getAttemptsCount() - 1;
      if (running && i >= seen) {
        lines.add(taskLine(attempt.getStartedAt(), task, Style.CYAN, "RUNNING", where(attempt)));
      } else if (!running && !(last && over) && wasRunning(before, i)) {
        lines.add(
            taskLine(
                attempt.getEndedAt(),
                task,
                Style.YELLOW,
                Json.outcome(attempt.getOutcome()),
                where(attempt) + because(attempt.getReason()) + again(task, last)));
      }
    }
    if (over && (before == null || before.getState() != task.getState())) {
      lines.add(endLine(task));
    }
    return lines;
  }

  private static boolean wasRunning(@Nullable Task before, int index) {
    return before == null
        || index >= before.getAttemptsCount()
        || before.getAttempts(index).getOutcome() == AttemptOutcome.ATTEMPT_OUTCOME_UNSPECIFIED;
  }

  private String endLine(Task task) {
    String state = Json.state(task.getState());
    if (task.getAttemptsCount() == 0) {
      return taskLine(0, task, style(task.getState()), state, "");
    }
    Attempt last = task.getAttempts(task.getAttemptsCount() - 1);
    return taskLine(
        last.getEndedAt(),
        task,
        style(task.getState()),
        state,
        where(last) + ", " + Times.duration(last.getDurationMs()) + because(last.getReason()));
  }

  private static String where(Attempt attempt) {
    String text = "on " + attempt.getWorkerId();
    return attempt.getNumber() > 1 ? text + ", attempt " + attempt.getNumber() : text;
  }

  private String again(Task task, boolean last) {
    if (!last || task.getRetryAt() == 0) {
      return "";
    }
    long wait = task.getRetryAt() - terminal.clock().millis();
    return wait > 0 ? "; again in " + Times.duration(wait) : "";
  }

  private static String because(String reason) {
    return reason.isEmpty() ? "" : ": " + reason;
  }

  private String taskLine(long millis, Task task, Style style, String word, String rest) {
    Instant when = millis == 0 ? terminal.clock().instant() : Instant.ofEpochMilli(millis);
    return (terminal.style(Style.DIM, CLOCK.format(when.atZone(terminal.zone())))
            + "  "
            + pad(task.getTaskId(), nameWidth)
            + "  "
            + terminal.style(style, pad(word, 9))
            + "  "
            + rest)
        .stripTrailing();
  }

  private void note(String text) {
    line(terminal.style(Style.YELLOW, "-- " + text));
  }

  private void line(String line) {
    if (barShown) {
      barShown = false;
      terminal.out().print("\r\033[K");
    }
    terminal.println(line);
  }

  private void bar() {
    if (!terminal.interactive() || run == null) {
      return;
    }
    TaskCounts counts = run.getCounts();
    int bad = counts.getFailed() + counts.getTimeout();
    int ended = ended(counts);
    int all = all(counts);
    int full = all == 0 ? 0 : (int) ((long) BAR * ended / all);
    long until = run.getEndedAt() == 0 ? terminal.clock().millis() : run.getEndedAt();
    String text =
        String.format(
            "[%s%s] %d of %d tasks ended, %d running%s, %s",
            "#".repeat(full),
            ".".repeat(BAR - full),
            ended,
            all,
            counts.getRunning(),
            bad == 0 ? "" : ", " + bad + " failed",
            Times.duration(until - run.getCreatedAt()));
    String cut = text.length() < terminal.width() ? text : text.substring(0, terminal.width() - 1);
    terminal.out().print("\r\033[K" + terminal.style(bad == 0 ? Style.BOLD : Style.RED, cut));
    terminal.out().flush();
    barShown = true;
  }

  static int ended(TaskCounts counts) {
    return counts.getSuccess()
        + counts.getFailed()
        + counts.getTimeout()
        + counts.getCancelled()
        + counts.getSkipped();
  }

  static int all(TaskCounts counts) {
    return ended(counts) + counts.getPending() + counts.getReady() + counts.getRunning();
  }

  private static String pad(String text, int width) {
    return text.length() >= width ? text : text + " ".repeat(width - text.length());
  }

  private static boolean isOver(TaskState state) {
    return switch (state) {
      case TASK_SUCCESS, TASK_FAILED, TASK_TIMEOUT, TASK_CANCELLED, TASK_SKIPPED -> true;
      case TASK_STATE_UNSPECIFIED, TASK_PENDING, TASK_READY, TASK_RUNNING, UNRECOGNIZED -> false;
    };
  }

  static Style style(TaskState state) {
    return switch (state) {
      case TASK_SUCCESS -> Style.GREEN;
      case TASK_FAILED, TASK_TIMEOUT -> Style.RED;
      case TASK_RUNNING -> Style.CYAN;
      case TASK_CANCELLED, TASK_SKIPPED -> Style.DIM;
      case TASK_STATE_UNSPECIFIED, TASK_PENDING, TASK_READY, UNRECOGNIZED -> Style.PLAIN;
    };
  }

  static Style style(RunState state) {
    return switch (state) {
      case RUN_SUCCESS -> Style.GREEN;
      case RUN_FAILED, RUN_TIMEOUT -> Style.RED;
      case RUN_RUNNING -> Style.CYAN;
      case RUN_CANCELLED -> Style.YELLOW;
      case RUN_STATE_UNSPECIFIED, UNRECOGNIZED -> Style.PLAIN;
    };
  }
}
