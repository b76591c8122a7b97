package dev.baton.scheduler.engine;

import dev.baton.scheduler.model.Limits;
import java.util.Comparator;
import java.util.HashMap;
import java.util.Map;
import java.util.NavigableSet;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * Tasks that may start, one queue per type: by priority (10 first), then age of the run, then place
 * in it. Those whose retry is not due wait beside them, by due time.
 *
 * <p>Which task is next is decided by hard state alone; moving a due retry over is soft, so a node
 * that does not lead never does it. A type of which nothing waits is forgotten with its turn: then
 * nobody is kept waiting, and types that come and go must not fill the memory.
 */
public final class ReadyQueues {
  private static final int PRIORITIES = 10;

  private final Map<String, TypeQueue> byType = new TreeMap<>();
  private final TreeSet<Delayed> delayed =
      new TreeSet<>(Comparator.comparingLong(Delayed::due).thenComparing(Delayed::task));
  private final TreeSet<Head> heads = new TreeSet<>();
  private int size;

  ReadyQueues() {}

  /** A task that may start. */
  public record ReadyTask(long run, int task) implements Comparable<ReadyTask> {
    @Override
    public int compareTo(ReadyTask other) {
      int order = Long.compare(run, other.run);
      return order != 0 ? order : Integer.compare(task, other.task);
    }
  }

  /** The most urgent task of a type, whether or not it is next; the most urgent comes first. */
  record Head(int priority, ReadyTask task, String type) implements Comparable<Head> {
    @Override
    public int compareTo(Head other) {
      int order = Integer.compare(other.priority, priority);
      return order != 0 ? order : task.compareTo(other.task);
    }
  }

  private record Delayed(long due, ReadyTask task, String type, int priority) {}

  /** How far the turn of lower priorities has come for a type. */
  public record Turn(int sinceTurn, int lastPriority) {}

  private static final class TypeQueue {
    final String type;
    final TreeSet<?>[] levels = new TreeSet<?>[PRIORITIES + 1];
    int size;
    int delayed;
    int sinceTurn;
    int lastPriority;
    @Nullable Head head;

    TypeQueue(String type) {
      this.type = type;
    }

    @SuppressWarnings("unchecked")
    @Nullable NavigableSet<ReadyTask> level(int priority) {
      return (NavigableSet<ReadyTask>) levels[priority];
    }

    NavigableSet<ReadyTask> levelOrNew(int priority) {
      NavigableSet<ReadyTask> level = level(priority);
      if (level == null) {
        TreeSet<ReadyTask> fresh = new TreeSet<>();
        levels[priority] = fresh;
        return fresh;
      }
      return level;
    }

    int highest() {
      return below(PRIORITIES + 1);
    }

    /** The highest priority under this one at which something waits; 0: none. */
    int below(int priority) {
      for (int p = priority - 1; p > 0; p--) {
        NavigableSet<ReadyTask> level = level(p);
        if (level != null && !level.isEmpty()) {
          return p;
        }
      }
      return 0;
    }

    /** The priority whose turn it is; 0: nothing waits. */
    int turn() {
      int highest = highest();
      if (sinceTurn < Limits.TURN_OF_LOWER_PRIORITY - 1) {
        return highest;
      }
      int lower = below(lastPriority == 0 ? highest : Math.min(lastPriority, highest));
      if (lower == 0) {
        lower = below(highest);
      }
      return lower == 0 ? highest : lower;
    }

    void assigned(int priority) {
      sinceTurn++;
      if (sinceTurn >= Limits.TURN_OF_LOWER_PRIORITY) {
        sinceTurn = 0;
        lastPriority = priority;
      }
    }
  }

  /** All types for which something waits that may start now. */
  public Set<String> types() {
    TreeSet<String> types = new TreeSet<>();
    heads.forEach(head -> types.add(head.type()));
    return types;
  }

  /** The heads of all types for which something waits that may start now, most urgent first. */
  Iterable<Head> heads() {
    return heads;
  }

  /** Null: nothing of this type may start now. */
  @Nullable Head head(String type) {
    TypeQueue queue = byType.get(type);
    return queue == null ? null : queue.head;
  }

  /** How many tasks of a type may start now. */
  public int size(String type) {
    TypeQueue queue = byType.get(type);
    return queue == null ? 0 : queue.size;
  }

  /** How many tasks may start now. */
  public int size() {
    return size;
  }

  /** How many wait for the delay of a retry. */
  public int delayedSize() {
    return delayed.size();
  }

  /** The task of this type that is next. */
  public @Nullable ReadyTask next(String type) {
    TypeQueue queue = byType.get(type);
    if (queue == null || queue.size == 0) {
      return null;
    }
    NavigableSet<ReadyTask> level = queue.level(queue.turn());
    return level == null || level.isEmpty() ? null : level.first();
  }

  /** Journal time at which the next retry is due; {@link Long#MAX_VALUE}: none waits. */
  public long nextDue() {
    return delayed.isEmpty() ? Long.MAX_VALUE : delayed.first().due();
  }

  /**
   * Lets the retries that are due by {@code now} join their queues. Soft: changes nothing that is
   * recorded.
   */
  public void promote(long now) {
    while (!delayed.isEmpty() && delayed.first().due() <= now) {
      Delayed due = delayed.pollFirst();
      if (due != null) {
        TypeQueue queue = queue(due.type());
        queue.delayed--;
        addReady(queue, due.priority(), due.task());
      }
    }
  }

  /** The turns of all types, for a snapshot. */
  public Map<String, Turn> turns() {
    Map<String, Turn> turns = new HashMap<>();
    byType.forEach((type, queue) -> {
      if (queue.sinceTurn != 0 || queue.lastPriority != 0) {
        turns.put(type, new Turn(queue.sinceTurn, queue.lastPriority));
      }
    });
    return turns;
  }

  void restoreTurn(String type, Turn turn) {
    TypeQueue queue = queue(type);
    queue.sinceTurn = turn.sinceTurn();
    queue.lastPriority = turn.lastPriority();
  }

  void add(String type, int priority, ReadyTask task, long due) {
    TypeQueue queue = queue(type);
    if (due > 0) {
      delayed.add(new Delayed(due, task, type, priority));
      queue.delayed++;
    } else {
      addReady(queue, priority, task);
    }
  }

  void remove(String type, int priority, ReadyTask task, long due) {
    TypeQueue queue = queue(type);
    NavigableSet<ReadyTask> level = queue.level(priority);
    if (due > 0 && delayed.remove(new Delayed(due, task, type, priority))) {
      queue.delayed--;
    } else if (level != null && level.remove(task)) {
      queue.size--;
      size--;
      findHead(queue);
    } else {
      throw new IllegalStateException(
          "Expected " + task + " to wait for its start, but it does not");
    }
    if (queue.size + queue.delayed == 0) {
      byType.remove(type);
    }
  }

  void assigned(String type, int priority) {
    TypeQueue queue = byType.get(type);
    if (queue != null) {
      queue.assigned(priority);
    }
  }

  private TypeQueue queue(String type) {
    return byType.computeIfAbsent(type, TypeQueue::new);
  }

  private void addReady(TypeQueue queue, int priority, ReadyTask task) {
    queue.levelOrNew(priority).add(task);
    queue.size++;
    size++;
    findHead(queue);
  }

  private void findHead(TypeQueue queue) {
    int priority = queue.highest();
    NavigableSet<ReadyTask> level = queue.level(priority);
    Head head =
        level == null || level.isEmpty() ? null : new Head(priority, level.first(), queue.type);
    if (!Objects.equals(head, queue.head)) {
      if (queue.head != null) {
        heads.remove(queue.head);
      }
      if (head != null) {
        heads.add(head);
      }
      queue.head = head;
    }
  }
}
