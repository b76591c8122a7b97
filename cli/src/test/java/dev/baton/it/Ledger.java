package dev.baton.it;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * What the commands of tasks noted by themselves, and what is wrong with it. A line each, in the
 * order in which the file system took them:
 *
 * <pre>
 * S run task attempt nanos     the command started
 * E run task attempt nanos     it ended well
 * F run task attempt nanos     it is about to fail, as the test wants it to
 * </pre>
 *
 * <p>An attempt that started and has neither line after it is running, as far as the file can tell;
 * so one that died with its worker is running for ever.
 */
record Ledger(List<Mark> marks, List<Fault> faults) {
  /** A task of a run. */
  record TaskKey(String run, String task) {}

  /** One line. */
  record Mark(char kind, TaskKey key, int attempt, long nanos) {}

  /** What a line does that no line should. */
  enum Kind {
    MALFORMED,
    /** The same attempt started twice. */
    STARTED_TWICE,
    /** Another attempt started while an earlier one was running. */
    STARTED_WHILE_RUNNING,
    /** Something started though the task had ended well. */
    STARTED_AFTER_END,
    /** An attempt number that is not above the one before it. */
    ATTEMPT_FELL,
    ENDED_TWICE,
    ENDED_WITHOUT_START
  }

  /** A fault and its line, counted from 1. */
  record Fault(Kind kind, int line, String text) {}

  Ledger {
    marks = List.copyOf(marks);
    faults = List.copyOf(faults);
  }

  /** Reads and judges a file; one that is not there yet is empty. */
  static Ledger read(Path file) {
    try {
      return of(Files.exists(file) ? Files.readString(file) : "");
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Reads and judges a text. What follows the last line end is still being written. */
  static Ledger of(String text) {
    List<Mark> marks = new ArrayList<>();
    List<Fault> faults = new ArrayList<>();
    Map<TaskKey, History> tasks = new HashMap<>();
    int whole = text.lastIndexOf('\n') + 1;
    int number = 0;
    for (String line : text.substring(0, whole).lines().toList()) {
      number++;
      String[] fields = line.split(" ", -1);
      if (!line.matches("[SEF] \\S+ \\S+ \\d{1,9} \\d{1,19}")) {
        faults.add(new Fault(Kind.MALFORMED, number, line));
        continue;
      }
      Mark mark =
          new Mark(
              line.charAt(0),
              new TaskKey(fields[1], fields[2]),
              Integer.parseInt(fields[3]),
              Long.parseLong(fields[4]));
      marks.add(mark);
      for (Kind kind : tasks.computeIfAbsent(mark.key(), key -> new History()).add(mark)) {
        faults.add(new Fault(kind, number, line));
      }
    }
    return new Ledger(marks, faults);
  }

  /** Tasks of which an attempt started. */
  Set<TaskKey> started() {
    return keys('S');
  }

  /** Tasks of which an attempt ended well. */
  Set<TaskKey> ended() {
    return keys('E');
  }

  /** Tasks that started and have not ended. */
  Set<TaskKey> running() {
    Map<TaskKey, History> tasks = new HashMap<>();
    marks.forEach(mark -> tasks.computeIfAbsent(mark.key(), key -> new History()).add(mark));
    return tasks.entrySet().stream()
        .filter(task -> task.getValue().isRunning())
        .map(Map.Entry::getKey)
        .collect(Collectors.toCollection(LinkedHashSet::new));
  }

  /** Starts of one task. */
  List<Mark> starts(TaskKey key) {
    return marks.stream().filter(mark -> mark.kind() == 'S' && mark.key().equals(key)).toList();
  }

  /** The marks after those of an earlier reading of the same file. */
  List<Mark> since(Ledger earlier) {
    return marks.subList(earlier.marks.size(), marks.size());
  }

  private Set<TaskKey> keys(char kind) {
    return marks.stream()
        .filter(mark -> mark.kind() == kind)
        .map(Mark::key)
        .collect(Collectors.toCollection(LinkedHashSet::new));
  }

  /** One task so far. */
  private static final class History {
    private final Set<Integer> running = new HashSet<>();
    private final Set<Integer> started = new HashSet<>();
    private int newest;
    private boolean ended;

    boolean isRunning() {
      return !running.isEmpty();
    }

    List<Kind> add(Mark mark) {
      return mark.kind() == 'S' ? start(mark.attempt()) : end(mark);
    }

    private List<Kind> start(int attempt) {
      List<Kind> faults = new ArrayList<>();
      if (!started.add(attempt)) {
        faults.add(Kind.STARTED_TWICE);
      } else if (attempt < newest) {
        faults.add(Kind.ATTEMPT_FELL);
      }
      if (ended) {
        faults.add(Kind.STARTED_AFTER_END);
      } else if (!running.isEmpty()) {
        faults.add(Kind.STARTED_WHILE_RUNNING);
      }
      newest = Math.max(newest, attempt);
      running.add(attempt);
      return faults;
    }

    private List<Kind> end(Mark mark) {
      List<Kind> faults = new ArrayList<>();
      if (!started.contains(mark.attempt())) {
        faults.add(Kind.ENDED_WITHOUT_START);
      } else if (!running.remove(mark.attempt())) {
        faults.add(Kind.ENDED_TWICE);
      }
      if (mark.kind() == 'E') {
        if (ended && faults.isEmpty()) {
          faults.add(Kind.ENDED_TWICE);
        }
        ended = true;
      }
      return faults;
    }
  }
}
