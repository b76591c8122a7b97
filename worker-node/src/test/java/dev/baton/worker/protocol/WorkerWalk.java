package dev.baton.worker.protocol;

import dev.baton.proto.v1.AttemptName;
import dev.baton.proto.v1.Inventory;
import dev.baton.proto.v1.ResultAck;
import dev.baton.proto.v1.SchedulerMessage;
import dev.baton.proto.v1.TaskAssignment;
import dev.baton.proto.v1.TaskCancel;
import dev.baton.proto.v1.TaskResult;
import dev.baton.proto.v1.TaskResult.Status;
import dev.baton.proto.v1.TermStarted;
import dev.baton.proto.v1.WorkerMessage;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * One walk: the journal is an atomic fenced log, streams are first in first out and break at any
 * time, old leaders go on until the fence stops them, effects leave late, leases end with the
 * worker alive or dead, tasks are cancelled.
 */
final class WorkerWalk {
  enum Seen {
    RETURNED,
    CANCELLED_UNKNOWN,
    CANCELLED_RUNNING,
    ADOPTED,
    LATE_RESULT,
    SENT_AGAIN,
    DROPPED_KNOWN,
    DROPPED_TERM,
    DROPPED_INCARNATION,
    FENCED
  }

  private enum Phase {
    READY,
    RUNNING,
    DONE
  }

  /** {@code attempt}: the last one; {@code worker} and {@code incarnation} while it runs. */
  private record Task(Phase phase, int attempt, int worker, String incarnation, boolean cancelled) {
    static final Task NEW = new Task(Phase.READY, 0, -1, "", false);
  }

  private record Event(int task, Task after, @Nullable AttemptId accepted) {}

  private record Effect(int worker, SchedulerMessage message) {}

  private record Link(int worker, int node) {}

  private static final class Node {
    boolean leads;
    boolean opened;
    long term;
    Map<Integer, Task> state = new HashMap<>();
    List<Event> open = new ArrayList<>();
    List<Effect> waiting = new ArrayList<>();
    @Nullable List<Event> flight;
    List<Effect> flightEffects = new ArrayList<>();
    Deque<Effect> released = new ArrayDeque<>();
  }

  private final class Worker implements Outputs {
    final int index;
    final Set<AttemptId> handlers = new LinkedHashSet<>();
    final Set<AttemptId> told = new LinkedHashSet<>();
    String incarnation = "";
    WorkerProtocol protocol = new WorkerProtocol("w", "none", 1, this);
    boolean up;

    Worker(int index) {
      this.index = index;
      begin();
    }

    void begin() {
      incarnation = "i" + ++incarnations;
      protocol = new WorkerProtocol("w" + index, incarnation, 1 + random.nextInt(2), this);
      handlers.clear();
      told.clear();
      up = true;
      registered.put(index, incarnation);
    }

    @Override
    public boolean ready(String node) {
      return random.nextInt(4) > 0 || calm;
    }

    @Override
    public void send(String node, WorkerMessage message) {
      Deque<WorkerMessage> queue = upward.get(new Link(index, Integer.parseInt(node)));
      if (queue != null) {
        queue.add(message);
      }
    }

    @Override
    public void close(String node, String reason) {
      breakLink(new Link(index, Integer.parseInt(node)));
    }

    @Override
    public long lease() {
      return 1;
    }

    @Override
    public void start(TaskAssignment assignment) {
      AttemptId id = AttemptId.of(assignment);
      require(executed.add(id), id + " runs twice");
      require(!settled.contains(id), id + " runs though its return or cancel was decided");
      AttemptId before = new AttemptId(id.runId(), id.taskId(), id.attempt() - 1);
      require(
          id.attempt() == 1 || lost.contains(before), id + " though " + before + " is not lost");
      handlers.add(id);
    }

    @Override
    public void cancel(AttemptId attempt, String reason) {
      require(handlers.contains(attempt), "cancel of " + attempt + " which does not run");
      told.add(attempt);
    }

    @Override
    public void drain() {}

    @Override
    public void dropped(String node, Drop why) {
      switch (why) {
        case TERM -> see(Seen.DROPPED_TERM);
        case KNOWN_ASSIGNMENT -> see(Seen.DROPPED_KNOWN);
        case INCARNATION -> see(Seen.DROPPED_INCARNATION);
        case GENERATION, TOO_MANY_RETURNS, REGISTRATION -> require(false, "dropped by " + why);
      }
    }
  }

  private static final int TASKS = 6;
  private static final int BELIEVED_SLOTS = 2;
  private static final int STEPS = 600;
  private static final int CALM_STEPS = 20_000;

  private final long seed;
  private final Random random;
  private final Map<Seen, Integer> seen;
  private final Map<Integer, Task> log = new HashMap<>();
  private final Map<Integer, String> registered = new HashMap<>();
  private final Map<Link, Deque<WorkerMessage>> upward = new LinkedHashMap<>();
  private final Map<Link, Deque<SchedulerMessage>> downward = new LinkedHashMap<>();
  private final Set<AttemptId> executed = new HashSet<>();
  private final Set<AttemptId> settled = new HashSet<>();
  private final Set<AttemptId> lost = new HashSet<>();
  private final Set<Integer> ended = new HashSet<>();
  private final List<Node> nodes = new ArrayList<>();
  private final List<Worker> workers = new ArrayList<>();
  private int incarnations;
  private int leader = -1;
  private long term;
  private boolean calm;

  WorkerWalk(long seed, Map<Seen, Integer> seen) {
    this.seed = seed;
    this.random = new Random(seed);
    this.seen = seen;
    for (int i = 0; i < TASKS; i++) {
      log.put(i, Task.NEW);
    }
    for (int i = 0; i < 3; i++) {
      nodes.add(new Node());
    }
    for (int i = 0; i < 2; i++) {
      workers.add(new Worker(i));
    }
  }

  void run() {
    for (int i = 0; i < STEPS; i++) {
      step();
    }
    calm = true;
    for (int i = 0; i < CALM_STEPS && !atRest(); i++) {
      step();
    }
    require(atRest(), "never came to rest: " + log);
  }

  private boolean atRest() {
    return log.values().stream().allMatch(task -> task.phase() == Phase.DONE)
        && workers.stream().allMatch(w -> w.handlers.isEmpty() && w.protocol.outboxCount() == 0);
  }

  private void step() {
    int dice = random.nextInt(100);
    Node node = nodes.get(random.nextInt(nodes.size()));
    Worker worker = workers.get(random.nextInt(workers.size()));
    if (dice < 5) {
      changeLeader(node);
    } else if (dice < 8) {
      if (!calm) {
        breakLink(new Link(worker.index, random.nextInt(nodes.size())));
      }
    } else if (dice < 16) {
      connect(new Link(worker.index, random.nextInt(nodes.size())));
    } else if (dice < 19) {
      changeRegistration(worker);
    } else if (dice < 35) {
      plan(node);
    } else if (dice < 55) {
      append(node);
    } else if (dice < 70) {
      release(node);
    } else if (dice < 80) {
      pick(upward).ifPresent(link -> heard(link, upward.get(link)));
    } else if (dice < 92) {
      pick(downward).ifPresent(link -> deliver(link, downward.get(link)));
    } else {
      work(worker);
    }
  }

  private void changeLeader(Node node) {
    if (leader >= 0 && !calm && random.nextInt(3) == 0) {
      leader = -1; // its lease ended, and nobody told it
    } else if (leader < 0) {
      leader = nodes.indexOf(node);
      node.term = ++term;
      node.leads = true;
      node.opened = false;
      node.state = new HashMap<>(log);
      node.open = new ArrayList<>(List.of(new Event(-1, Task.NEW, null)));
      node.waiting = new ArrayList<>();
      node.flight = null;
      node.released = new ArrayDeque<>();
    }
  }

  private void connect(Link link) {
    if (!workers.get(link.worker()).up || upward.containsKey(link)) {
      return;
    }
    upward.put(link, new ArrayDeque<>());
    downward.put(link, new ArrayDeque<>());
    workers.get(link.worker()).protocol.streamOpened(Integer.toString(link.node()));
    Node node = nodes.get(link.node());
    if (node.leads && node.opened) {
      greet(node, link);
    }
  }

  private void greet(Node node, Link link) {
    Deque<SchedulerMessage> queue = downward.get(link);
    if (queue != null) {
      queue.add(
          message(node, workers.get(link.worker()).incarnation)
              .setTermStarted(TermStarted.getDefaultInstance())
              .build());
    }
  }

  private void breakLink(Link link) {
    if (upward.remove(link) != null) {
      downward.remove(link);
      workers.get(link.worker()).protocol.streamClosed(Integer.toString(link.node()));
    }
  }

  private void changeRegistration(Worker worker) {
    if (!calm && registered.containsKey(worker.index) && random.nextInt(4) == 0) {
      registered.remove(worker.index);
      if (random.nextBoolean()) {
        worker.up = false; // it died
        List.copyOf(upward.keySet()).stream()
            .filter(link -> link.worker() == worker.index)
            .forEach(this::breakLink);
        worker.handlers.clear();
      }
    } else if (!registered.containsKey(worker.index)) {
      if (worker.up) {
        registered.put(worker.index, worker.incarnation);
      } else {
        worker.begin();
      }
    }
  }

  /** One thing at a time that a leader decides by itself. */
  private void plan(Node node) {
    if (!node.leads || !node.opened) {
      return;
    }
    int index = random.nextInt(TASKS);
    Task task = task(node, index);
    if (task.phase() == Phase.RUNNING && !registered.containsKey(task.worker())) {
      lose(node, index, task);
    } else if (task.phase() == Phase.RUNNING && !task.cancelled() && random.nextInt(40) == 0) {
      decide(
          node,
          new Event(
              index,
              new Task(Phase.RUNNING, task.attempt(), task.worker(), task.incarnation(), true),
              null),
          cancel(node, task, index));
    } else if (task.phase() == Phase.READY) {
      List<Integer> free =
          registered.keySet().stream()
              .filter(w -> upward.containsKey(new Link(w, nodes.indexOf(node))))
              .filter(w -> used(node, w) < BELIEVED_SLOTS)
              .toList();
      if (!free.isEmpty()) {
        int worker = free.get(random.nextInt(free.size()));
        Task next =
            new Task(
                Phase.RUNNING,
                task.attempt() + 1,
                worker,
                Objects.requireNonNull(registered.get(worker)),
                false);
        decide(node, new Event(index, next, null), assign(node, next, index));
      }
    }
  }

  private void append(Node node) {
    if (!node.leads) {
      return;
    }
    if (node.flight == null) {
      if (!node.open.isEmpty() || !node.waiting.isEmpty()) {
        node.flight = node.open;
        node.flightEffects = node.waiting;
        node.open = new ArrayList<>();
        node.waiting = new ArrayList<>();
      }
      return;
    }
    List<Event> events = node.flight;
    node.flight = null;
    if (leader != nodes.indexOf(node) || term != node.term) {
      see(Seen.FENCED);
      node.leads = false; // what was released may still leave
      return;
    }
    boolean opens = false;
    for (Event event : events) {
      if (event.task() < 0) {
        opens = true;
      } else {
        if (event.after().phase() == Phase.DONE) {
          require(ended.add(event.task()), "two results count for task " + event.task());
        }
        log.put(event.task(), event.after());
      }
    }
    node.released.addAll(node.flightEffects);
    if (opens) {
      node.opened = true;
      workers.forEach(worker -> greet(node, new Link(worker.index, nodes.indexOf(node))));
    }
  }

  private void release(Node node) {
    Effect effect = node.released.poll();
    if (effect == null) {
      return;
    }
    for (TaskAssignment assignment : effect.message().getAssignmentsList()) {
      // Checked when it leaves; a node that stepped down sends nothing.
      if (!node.leads || node.term != effect.message().getTerm()) {
        return;
      }
      Task task = task(node, Integer.parseInt(assignment.getTaskId()));
      if (task.phase() != Phase.RUNNING
          || task.attempt() != assignment.getAttempt()
          || task.worker() != effect.worker()
          || task.cancelled()) {
        return;
      }
    }
    Deque<SchedulerMessage> queue = downward.get(new Link(effect.worker(), nodes.indexOf(node)));
    if (queue != null) {
      queue.add(effect.message());
    }
  }

  private void deliver(Link link, @Nullable Deque<SchedulerMessage> queue) {
    Worker worker = workers.get(link.worker());
    if (queue != null && worker.up) {
      worker.protocol.received(Integer.toString(link.node()), queue.remove());
      if (random.nextBoolean()) {
        worker.protocol.flush();
      }
    }
  }

  private void work(Worker worker) {
    if (!worker.up) {
      return;
    }
    if (!worker.handlers.isEmpty() && random.nextBoolean()) {
      List<AttemptId> all = List.copyOf(worker.handlers);
      AttemptId id = all.get(random.nextInt(all.size()));
      worker.handlers.remove(id);
      boolean stopped = worker.told.remove(id) && random.nextBoolean();
      worker.protocol.finished(
          TaskResult.newBuilder()
              .setRunId(id.runId())
              .setTaskId(id.taskId())
              .setAttempt(id.attempt())
              .setStatus(stopped ? Status.CANCELLED : Status.SUCCESS)
              .build(),
          true);
    }
    if (random.nextInt(8) == 0) {
      worker.protocol.tick();
    }
    worker.protocol.flush();
  }

  /** A leader hears a worker; a standby says nothing. */
  private void heard(Link link, @Nullable Deque<WorkerMessage> queue) {
    if (queue == null) {
      return;
    }
    WorkerMessage message = queue.remove();
    Node node = nodes.get(link.node());
    if (message.hasPing()) {
      Deque<SchedulerMessage> answers = downward.get(link);
      if (answers != null) {
        answers.add(
            SchedulerMessage.newBuilder()
                .setPong(
                    dev.baton.proto.v1.Pong.newBuilder().setNonce(message.getPing().getNonce()))
                .build());
      }
    }
    if (!node.leads || !node.opened) {
      return;
    }
    message.getResultsList().forEach(result -> judge(node, link.worker(), message, result));
    message
        .getReturnedList()
        .forEach(name -> returned(node, link.worker(), message, AttemptId.of(name)));
    for (AttemptName name : message.getCancelledUnknownList()) {
      AttemptId id = AttemptId.of(name);
      Task task = task(node, index(id));
      if (isRunning(task, id) && task.worker() == link.worker() && task.cancelled()) {
        see(Seen.CANCELLED_UNKNOWN);
        settled.add(id);
        decide(node, new Event(index(id), done(task), id), null);
      }
    }
    if (message.hasInventory() && message.getTerm() == node.term) {
      compare(node, link.worker(), message.getIncarnation(), message.getInventory());
    }
  }

  private void judge(Node node, int worker, WorkerMessage message, TaskResult result) {
    AttemptId id = AttemptId.of(result);
    Task task = task(node, index(id));
    Effect ack = ack(node, worker, message.getIncarnation(), id);
    boolean late = task.phase() == Phase.READY && task.attempt() == id.attempt();
    if (isRunning(task, id) || (late && result.getStatus() == Status.SUCCESS)) {
      if (late) {
        see(Seen.LATE_RESULT);
      }
      if (result.getStatus() == Status.CANCELLED) {
        see(Seen.CANCELLED_RUNNING);
      }
      decide(node, new Event(index(id), done(task), id), ack);
    } else {
      decide(node, null, ack);
    }
  }

  private void returned(Node node, int worker, WorkerMessage message, AttemptId id) {
    Task task = task(node, index(id));
    Effect ack = ack(node, worker, message.getIncarnation(), id);
    if (isRunning(task, id) && task.worker() == worker) {
      see(Seen.RETURNED);
      settled.add(id);
      lost.add(id);
      Task after =
          task.cancelled() ? done(task) : new Task(Phase.READY, task.attempt(), -1, "", false);
      decide(node, new Event(index(id), after, null), ack);
    } else {
      decide(node, null, ack);
    }
  }

  private void compare(Node node, int worker, String incarnation, Inventory inventory) {
    Set<AttemptId> running = ids(inventory.getRunningList());
    Set<AttemptId> held = ids(inventory.getResultsList());
    held.addAll(ids(inventory.getReturnedList()));
    held.addAll(running);
    for (int index = 0; index < TASKS; index++) {
      Task task = task(node, index);
      AttemptId id = new AttemptId("r", Integer.toString(index), task.attempt());
      if (task.phase() != Phase.RUNNING || task.worker() != worker) {
        continue;
      }
      if (task.incarnation().equals(incarnation)) {
        if (!held.contains(id)) {
          if (task.cancelled()) {
            decide(node, null, cancel(node, task, index));
          } else {
            see(Seen.SENT_AGAIN);
            decide(node, null, assign(node, task, index));
          }
        }
      } else if (!held.contains(id)) {
        lose(node, index, task);
      }
    }
    for (AttemptId id : running) {
      Task task = task(node, index(id));
      if (isRunning(task, id) && task.worker() == worker) {
        if (task.cancelled()) {
          decide(node, null, cancel(node, task, index(id)));
        }
      } else if (task.phase() == Phase.READY
          && task.attempt() == id.attempt()
          && !settled.contains(id)) {
        see(Seen.ADOPTED);
        Task adopted = new Task(Phase.RUNNING, id.attempt(), worker, incarnation, false);
        decide(node, new Event(index(id), adopted, null), null);
      } else {
        decide(
            node,
            null,
            new Effect(
                worker,
                message(node, incarnation)
                    .addCancels(TaskCancel.newBuilder().setAttempt(id.toProto()))
                    .build()));
      }
    }
  }

  private void lose(Node node, int index, Task task) {
    lost.add(new AttemptId("r", Integer.toString(index), task.attempt()));
    Task after =
        task.cancelled() ? done(task) : new Task(Phase.READY, task.attempt(), -1, "", false);
    decide(node, new Event(index, after, null), null);
  }

  /** Effects wait for the entry of their events, and for every entry decided before. */
  private static void decide(Node node, @Nullable Event event, @Nullable Effect effect) {
    if (event != null) {
      node.state.put(event.task(), event.after());
      node.open.add(event);
    }
    if (effect != null) {
      node.waiting.add(effect);
    }
  }

  private Effect assign(Node node, Task task, int index) {
    return new Effect(
        task.worker(),
        message(node, task.incarnation())
            .addAssignments(
                TaskAssignment.newBuilder()
                    .setWorkflowId("r")
                    .setTaskId(Integer.toString(index))
                    .setAttempt(task.attempt()))
            .build());
  }

  private Effect cancel(Node node, Task task, int index) {
    AttemptName name = new AttemptId("r", Integer.toString(index), task.attempt()).toProto();
    return new Effect(
        task.worker(),
        message(node, task.incarnation())
            .addCancels(TaskCancel.newBuilder().setAttempt(name))
            .build());
  }

  private Effect ack(Node node, int worker, String incarnation, AttemptId id) {
    return new Effect(
        worker,
        message(node, incarnation)
            .addAcks(
                ResultAck.newBuilder()
                    .setAttempt(id.toProto())
                    .setVerdict(ResultAck.Verdict.ACCEPTED))
            .build());
  }

  private static SchedulerMessage.Builder message(Node node, String incarnation) {
    return SchedulerMessage.newBuilder()
        .setGeneration(1)
        .setTerm(node.term)
        .setIncarnation(incarnation);
  }

  private static Task done(Task task) {
    return new Task(Phase.DONE, task.attempt(), -1, "", task.cancelled());
  }

  private static boolean isRunning(Task task, AttemptId id) {
    return task.phase() == Phase.RUNNING && task.attempt() == id.attempt();
  }

  private static Task task(Node node, int index) {
    return Objects.requireNonNull(node.state.get(index));
  }

  private static long used(Node node, int worker) {
    return node.state.values().stream()
        .filter(task -> task.phase() == Phase.RUNNING && task.worker() == worker)
        .count();
  }

  private static int index(AttemptId id) {
    return Integer.parseInt(id.taskId());
  }

  private static Set<AttemptId> ids(List<AttemptName> names) {
    Set<AttemptId> ids = new LinkedHashSet<>();
    names.forEach(name -> ids.add(AttemptId.of(name)));
    return ids;
  }

  private <T> Optional<Link> pick(Map<Link, Deque<T>> queues) {
    List<Link> filled =
        queues.entrySet().stream()
            .filter(entry -> !entry.getValue().isEmpty())
            .map(Map.Entry::getKey)
            .toList();
    return filled.isEmpty()
        ? Optional.empty()
        : Optional.of(filled.get(random.nextInt(filled.size())));
  }

  private void see(Seen what) {
    seen.merge(what, 1, Integer::sum);
  }

  private void require(boolean holds, String otherwise) {
    if (!holds) {
      throw new AssertionError(
          "seed " + seed + ": " + otherwise + "; run it again with -Dwalk.seed=" + seed);
    }
  }
}
