package dev.baton.cli.conformance;

import dev.baton.proto.v1.AttemptName;
import dev.baton.proto.v1.Drain;
import dev.baton.proto.v1.Inventory;
import dev.baton.proto.v1.InventoryRequest;
import dev.baton.proto.v1.Ping;
import dev.baton.proto.v1.RegisterRequest;
import dev.baton.proto.v1.ResultAck;
import dev.baton.proto.v1.SchedulerMessage;
import dev.baton.proto.v1.TaskAssignment;
import dev.baton.proto.v1.TaskCancel;
import dev.baton.proto.v1.TaskResult;
import dev.baton.proto.v1.TermStarted;
import dev.baton.proto.v1.WorkerMessage;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.ToIntFunction;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The rules, one check each, in one order: some leave an attempt that runs for the next. A check
 * gives null, or what the worker did instead.
 */
final class Checks {
  private static final Duration SOON = Duration.ofSeconds(10);

  /** A handler has ten seconds to return once it is told to stop. */
  private static final Duration STOP = Duration.ofSeconds(15);

  private static final Duration START = Duration.ofSeconds(30);
  private static final long GENERATION = 7;
  private static final int LONG_MS = 600_000;
  private static final int NO_TIMEOUT = 0;
  private static final int SHORT_TIMEOUT_MS = 300;
  private static final String UNOFFERED = "no-such-type";
  private static final String TASK = "t";

  private final Book book;
  private final ProbeNode.Lease lease;
  private final List<ProbeNode> nodes;
  private final Process worker;
  private final String type;
  private final String millis;
  private final Consumer<Verdict> listener;
  private final List<String> running = new ArrayList<>();
  private ProbeNode leader;
  private ProbeNode other;
  private RegisterRequest registration = RegisterRequest.getDefaultInstance();
  private long term = 5;
  private int runs;

  private interface Check {
    @Nullable String evidence() throws InterruptedException;
  }

  /**
   * @param nodes two
   * @param type a task type that waits for as long as it is told
   * @param millis the parameter that tells it how long, in ms
   */
  Checks(
      Book book,
      ProbeNode.Lease lease,
      List<ProbeNode> nodes,
      Process worker,
      String type,
      String millis,
      Consumer<Verdict> listener) {
    this.book = book;
    this.lease = lease;
    this.nodes = nodes;
    this.worker = worker;
    this.type = type;
    this.millis = millis;
    this.listener = listener;
    this.leader = nodes.get(0);
    this.other = nodes.get(1);
  }

  /** Without the first of them the others can't be looked at. */
  void run() throws InterruptedException {
    if (holds(Rule.REGISTERS, this::registers)
        && holds(Rule.OPENS_A_STREAM_TO_EACH_NODE, () -> opened(1, START))
        && holds(Rule.SAYS_HELLO_FIRST, this::saysHello)
        && holds(Rule.ANSWERS_PINGS, this::answersPings)
        && holds(Rule.SENDS_HEARTBEATS, this::sendsHeartbeats)
        && holds(Rule.TELLS_WHAT_IT_HOLDS, this::tellsWhatItHolds)) {
      checkAttempts();
      holds(Rule.OBEYS_A_NEW_LEADER, this::obeysANewLeader);
      holds(Rule.OPENS_A_BROKEN_STREAM_AGAIN, this::opensABrokenStreamAgain);
      holds(Rule.ASKS_ANOTHER_NODE, this::asksAnotherNode);
      Map<ProbeNode, Integer> before = counts(book::openings);
      holds(Rule.REGISTERS_AGAIN, this::registersAgain);
      holds(Rule.OPENS_STREAMS_ANEW, () -> opensStreamsAnew(before));
      holds(Rule.STARTS_NOTHING_PAST_ITS_LEASE, this::startsNothingPastItsLease);
      holds(Rule.DRAINS, this::drains);
    }
  }

  private void checkAttempts() throws InterruptedException {
    String result = nextRun();
    holds(Rule.RUNS_WHAT_IT_GETS, () -> runs(result));
    holds(Rule.KEEPS_RESULTS, () -> keeps(result));
    holds(Rule.FORGETS_WHAT_IS_ACKNOWLEDGED, () -> forgets(result));
    holds(Rule.RUNS_NO_COPY, this::runsNoCopy);
    holds(
        Rule.DROPS_OTHER_INCARNATIONS,
        () -> drops(leader, message -> message.setIncarnation("another")));
    holds(
        Rule.DROPS_OTHER_GENERATIONS,
        () -> drops(leader, message -> message.setGeneration(GENERATION + 1)));
    holds(Rule.DROPS_OLDER_TERMS, () -> drops(leader, message -> message.setTerm(term - 1)));
    holds(Rule.DROPS_A_SECOND_LEADER, () -> drops(other, message -> {}));
    String returned = nextRun();
    holds(Rule.RETURNS_WHAT_HAS_NO_SLOT, () -> returns(returned));
    holds(Rule.NEVER_STARTS_WHAT_IT_RETURNED, () -> neverStarts(returned));
    holds(Rule.STOPS_WHAT_IS_CANCELLED, this::stopsAll);
    holds(Rule.NEVER_STARTS_WHAT_WAS_CANCELLED, this::neverStartsWhatWasCancelled);
    holds(Rule.ENFORCES_TIMEOUTS, this::enforcesTimeouts);
    holds(Rule.FAILS_WHAT_IT_CANNOT_RUN, this::failsWhatItCannotRun);
  }

  private boolean holds(Rule rule, Check check) throws InterruptedException {
    String evidence = worker.isAlive() ? check.evidence() : "";
    if (evidence != null && !worker.isAlive() && rule != Rule.DRAINS) {
      evidence = "it has ended, with " + worker.exitValue();
    }
    listener.accept(new Verdict(rule, evidence));
    return evidence == null;
  }

  // What the nodes say.

  private SchedulerMessage.Builder message() {
    return SchedulerMessage.newBuilder()
        .setGeneration(GENERATION)
        .setIncarnation(registration.getIncarnation())
        .setTerm(term);
  }

  private String nextRun() {
    return "conformance-" + ++runs;
  }

  private TaskAssignment assignment(String run, String taskType, long ms, long timeoutMs) {
    return TaskAssignment.newBuilder()
        .setWorkflowId(run)
        .setTaskId(TASK)
        .setAttempt(1)
        .setTaskType(taskType)
        .setPriority(5)
        .putParams(millis, Long.toString(ms))
        .setTimeoutMs(timeoutMs)
        .setCreatedAt(System.currentTimeMillis())
        .setIdempotencyKey(run + "/" + TASK)
        .setSeq(runs)
        .build();
  }

  private void assign(String run, long ms) {
    leader.say(message().addAssignments(assignment(run, type, ms, NO_TIMEOUT)));
  }

  private static AttemptName name(String run) {
    return AttemptName.newBuilder().setRunId(run).setTaskId(TASK).setAttempt(1).build();
  }

  private void acknowledge(String run) {
    leader.say(
        message()
            .addAcks(
                ResultAck.newBuilder()
                    .setAttempt(name(run))
                    .setVerdict(ResultAck.Verdict.ACCEPTED)));
  }

  private void cancel(String run) {
    leader.say(
        message().addCancels(TaskCancel.newBuilder().setAttempt(name(run)).setReason("the check")));
  }

  // What the worker says.

  private <T> Optional<T> await(
      ProbeNode node, int mark, Duration bound, Function<WorkerMessage, Optional<T>> tells)
      throws InterruptedException {
    return book.await(
        bound,
        () ->
            book.after(
                mark,
                said ->
                    said.node().equals(node.id())
                        ? tells.apply(said.message())
                        : Optional.empty()));
  }

  private Optional<TaskResult> result(int mark, String run, Duration bound)
      throws InterruptedException {
    return await(
        leader,
        mark,
        bound,
        message ->
            message.getResultsList().stream().filter(r -> r.getRunId().equals(run)).findFirst());
  }

  private boolean isSaid(int mark, String run, Function<WorkerMessage, List<AttemptName>> names)
      throws InterruptedException {
    return await(
            leader,
            mark,
            SOON,
            message -> names.apply(message).stream().filter(name(run)::equals).findFirst())
        .isPresent();
  }

  /** What it tells when it is asked; null: nothing. */
  private @Nullable Inventory inventory() throws InterruptedException {
    int mark = book.mark();
    leader.say(message().setInventoryRequest(InventoryRequest.getDefaultInstance()));
    return inventory(mark);
  }

  private @Nullable Inventory greet() throws InterruptedException {
    int mark = book.mark();
    leader.say(message().setTermStarted(TermStarted.getDefaultInstance()));
    return inventory(mark);
  }

  private @Nullable Inventory inventory(int mark) throws InterruptedException {
    return await(
            leader,
            mark,
            SOON,
            message ->
                message.hasInventory() ? Optional.of(message.getInventory()) : Optional.empty())
        .orElse(null);
  }

  private static boolean has(List<AttemptName> names, String run) {
    return names.contains(name(run));
  }

  /** Null: it holds nothing of this run in any way. */
  private @Nullable String held(String run) throws InterruptedException {
    Inventory inventory = inventory();
    if (inventory == null) {
      return "no inventory came";
    }
    boolean holds =
        Stream.of(
                inventory.getRunningList(),
                inventory.getResultsList(),
                inventory.getReturnedList(),
                inventory.getLingeringList())
            .anyMatch(names -> has(names, run));
    return holds ? "it holds what it should have dropped" : null;
  }

  // The checks.

  private @Nullable String registers() throws InterruptedException {
    Optional<RegisterRequest> first =
        book.await(
            START,
            () ->
                worker.isAlive()
                    ? book.registrations().stream().findFirst()
                    : Optional.of(registration));
    if (first.isEmpty()) {
      return "no call came within " + START.toSeconds() + " s";
    }
    registration = first.get();
    if (registration.getWorkerId().isEmpty() || registration.getIncarnation().isEmpty()) {
      return "worker_id or incarnation is empty";
    }
    if (!registration.getCapabilitiesList().contains(type)
        && !registration.getCapabilitiesList().contains("*")) {
      return "it does not offer '"
          + type
          + "', which the checks need, but "
          + registration.getCapabilitiesList();
    }
    return registration.getMaxConcurrency() < 1
        ? "max_concurrency is " + registration.getMaxConcurrency()
        : null;
  }

  private @Nullable String opened(int times, Duration bound) throws InterruptedException {
    for (ProbeNode node : nodes) {
      if (book.await(
              bound,
              () ->
                  book.openings(node.id()) >= times
                      ? Optional.of(node)
                      : Optional.<ProbeNode>empty())
          .isEmpty()) {
        return "node " + node.id() + " has no stream within " + bound.toSeconds() + " s";
      }
    }
    return null;
  }

  private @Nullable String saysHello() {
    for (Book.Said first : book.firsts()) {
      WorkerMessage message = first.message();
      if (!message.hasHello()) {
        return "the first message to node " + first.node() + " has no hello";
      }
      if (!message.getHello().getWorkerId().equals(registration.getWorkerId())
          || !message.getIncarnation().equals(registration.getIncarnation())
          || message.getHello().getProtocolVersion() != 1) {
        return "hello has another id, incarnation or protocol_version than it registered with: "
            + message;
      }
    }
    return null;
  }

  private @Nullable String answersPings() throws InterruptedException {
    for (ProbeNode node : nodes) {
      if (!ping(node)) {
        return "no pong came at node " + node.id();
      }
    }
    return null;
  }

  private boolean ping(ProbeNode node) throws InterruptedException {
    long nonce = 4_711L * ++runs;
    int mark = book.mark();
    node.say(message().setTerm(0).setPing(Ping.newBuilder().setNonce(nonce)));
    return await(
            node,
            mark,
            SOON,
            message ->
                message.hasPong() && message.getPong().getNonce() == nonce
                    ? Optional.of(message)
                    : Optional.empty())
        .isPresent();
  }

  private int heartbeats() {
    return nodes.stream().mapToInt(node -> book.heartbeats(node.id())).sum();
  }

  private boolean awaitHeartbeats(int more, Duration bound) throws InterruptedException {
    int goal = heartbeats() + more;
    return book.await(
            bound, () -> heartbeats() >= goal ? Optional.of(goal) : Optional.<Integer>empty())
        .isPresent();
  }

  private @Nullable String sendsHeartbeats() throws InterruptedException {
    return awaitHeartbeats(2, SOON)
        ? null
        : "fewer than 2 came within "
            + SOON.toSeconds()
            + " s; it was told to send one every "
            + ProbeNode.HEARTBEAT_SECONDS
            + " s";
  }

  private @Nullable String tellsWhatItHolds() throws InterruptedException {
    Inventory inventory = greet();
    if (inventory == null) {
      return "no inventory came";
    }
    return inventory.getRunningCount() + inventory.getResultsCount() > 0
            || inventory.getFreeSlots() != registration.getMaxConcurrency()
        ? "it has got nothing, but tells " + inventory
        : null;
  }

  private @Nullable String runs(String run) throws InterruptedException {
    int mark = book.mark();
    assign(run, 0);
    Optional<TaskResult> result = result(mark, run, SOON);
    if (result.isEmpty()) {
      return "no result of run " + run + " came";
    }
    TaskResult told = result.get();
    return told.getStatus() != TaskResult.Status.SUCCESS
            || !told.getTaskId().equals(TASK)
            || told.getAttempt() != 1
        ? "it tells " + told
        : null;
  }

  private @Nullable String keeps(String run) throws InterruptedException {
    int mark = book.mark();
    Inventory inventory = inventory();
    if (inventory == null || !has(inventory.getResultsList(), run)) {
      return "its inventory lacks a result that nobody has acknowledged";
    }
    return result(mark, run, SOON).isEmpty() ? "the result does not come again" : null;
  }

  private @Nullable String forgets(String run) throws InterruptedException {
    acknowledge(run);
    Inventory inventory = inventory();
    return inventory == null
            || has(inventory.getResultsList(), run)
            || inventory.getFreeSlots() != registration.getMaxConcurrency()
        ? "its inventory is " + inventory
        : null;
  }

  private @Nullable String runsNoCopy() throws InterruptedException {
    String run = nextRun();
    running.add(run);
    assign(run, LONG_MS);
    assign(run, LONG_MS);
    Inventory inventory = inventory();
    return inventory == null
            || inventory.getRunningList().stream().filter(name(run)::equals).count() != 1
            || has(inventory.getReturnedList(), run)
            || inventory.getFreeSlots() != registration.getMaxConcurrency() - 1
        ? "its inventory is " + inventory
        : null;
  }

  /** An assignment that must not be heard. */
  private @Nullable String drops(ProbeNode from, Consumer<SchedulerMessage.Builder> wrong)
      throws InterruptedException {
    String run = nextRun();
    SchedulerMessage.Builder message =
        message().addAssignments(assignment(run, type, LONG_MS, NO_TIMEOUT));
    wrong.accept(message);
    from.say(message);
    // What was said before on its stream has been read.
    return ping(from) ? held(run) : "no pong came";
  }

  private @Nullable String returns(String over) throws InterruptedException {
    int mark = book.mark();
    while (running.size() < registration.getMaxConcurrency()) {
      String run = nextRun();
      running.add(run);
      assign(run, LONG_MS);
    }
    assign(over, LONG_MS);
    if (!isSaid(mark, over, WorkerMessage::getReturnedList)) {
      return "the attempt above its "
          + registration.getMaxConcurrency()
          + " slots does not come back in `returned`";
    }
    int again = book.mark();
    Inventory inventory = inventory();
    if (inventory == null
        || !has(inventory.getReturnedList(), over)
        || inventory.getRunningCount() != registration.getMaxConcurrency()) {
      return "its inventory is " + inventory;
    }
    return isSaid(again, over, WorkerMessage::getReturnedList)
        ? null
        : "the return is not told again after an inventory";
  }

  private @Nullable String neverStarts(String run) throws InterruptedException {
    acknowledge(run);
    int mark = book.mark();
    assign(run, LONG_MS);
    return isSaid(mark, run, WorkerMessage::getCancelledUnknownList)
        ? held(run)
        : "a late copy of the assignment is not answered in `cancelled_unknown`";
  }

  private @Nullable String stopsAll() throws InterruptedException {
    int mark = book.mark();
    running.forEach(this::cancel);
    for (String run : running) {
      Optional<TaskResult> result = result(mark, run, STOP);
      if (result.isEmpty() || result.get().getStatus() != TaskResult.Status.CANCELLED) {
        return "of a cancelled attempt it tells "
            + result.map(TaskResult::toString).orElse("nothing within " + STOP.toSeconds() + " s");
      }
    }
    running.forEach(this::acknowledge);
    running.clear();
    Inventory inventory = inventory();
    return inventory == null || inventory.getFreeSlots() != registration.getMaxConcurrency()
        ? "after the acknowledgements its inventory is " + inventory
        : null;
  }

  private @Nullable String neverStartsWhatWasCancelled() throws InterruptedException {
    String run = nextRun();
    int mark = book.mark();
    cancel(run);
    if (!isSaid(mark, run, WorkerMessage::getCancelledUnknownList)) {
      return "a cancel of what it lacks is not answered in `cancelled_unknown`";
    }
    return neverStarts(run);
  }

  private @Nullable String enforcesTimeouts() throws InterruptedException {
    return ends(TaskResult.Status.TIMEOUT, type, SHORT_TIMEOUT_MS);
  }

  private @Nullable String failsWhatItCannotRun() throws InterruptedException {
    return registration.getCapabilitiesList().contains("*")
        ? null
        : ends(TaskResult.Status.FAILED, UNOFFERED, NO_TIMEOUT);
  }

  private @Nullable String ends(TaskResult.Status status, String taskType, long timeoutMs)
      throws InterruptedException {
    String run = nextRun();
    int mark = book.mark();
    leader.say(message().addAssignments(assignment(run, taskType, LONG_MS, timeoutMs)));
    Optional<TaskResult> result = result(mark, run, STOP);
    acknowledge(run);
    return result.isPresent() && result.get().getStatus() == status
        ? null
        : "it tells " + result.map(TaskResult::toString).orElse("nothing");
  }

  private @Nullable String obeysANewLeader() throws InterruptedException {
    String run = nextRun();
    running.add(run);
    assign(run, LONG_MS);
    if (!ping(leader)) { // or the new leader could be heard before it
      return "no pong came";
    }
    ProbeNode former = leader;
    leader = other;
    other = former;
    term++;
    Inventory inventory = greet();
    if (inventory == null || !has(inventory.getRunningList(), run)) {
      return "it tells the new leader " + inventory + ", but runs an attempt of before";
    }
    String dropped = drops(other, message -> message.setTerm(term - 1));
    return dropped == null ? quick() : dropped;
  }

  /** It takes an assignment and tells the leader of its end. */
  private @Nullable String quick() throws InterruptedException {
    String run = nextRun();
    String evidence = runs(run);
    acknowledge(run);
    return evidence;
  }

  private @Nullable String opensABrokenStreamAgain() throws InterruptedException {
    int before = book.openings(leader.id());
    leader.breakStream();
    String closed = reopened(leader, before);
    return closed == null ? goesOn() : closed;
  }

  private @Nullable String reopened(ProbeNode node, int before) throws InterruptedException {
    return book.await(
                SOON,
                () ->
                    book.openings(node.id()) > before
                        ? Optional.of(node)
                        : Optional.<ProbeNode>empty())
            .isPresent()
        ? null
        : "the stream to node " + node.id() + " is not opened again";
  }

  /** What ran still runs. */
  private @Nullable String goesOn() throws InterruptedException {
    Inventory inventory = greet();
    return inventory == null
            || inventory.getRunningCount() != running.size()
            || !running.stream().allMatch(run -> has(inventory.getRunningList(), run))
        ? "after the greeting its inventory is " + inventory
        : null;
  }

  private @Nullable String asksAnotherNode() throws InterruptedException {
    Map<ProbeNode, Integer> before = counts(book::heartbeats);
    Optional<ProbeNode> asked =
        book.await(
            SOON,
            () ->
                nodes.stream()
                    .filter(n -> book.heartbeats(n.id()) > before.getOrDefault(n, 0))
                    .findFirst());
    if (asked.isEmpty()) {
      return "no heartbeat came";
    }
    ProbeNode silent = asked.get();
    ProbeNode next = silent.equals(leader) ? other : leader;
    silent.answer(false);
    int came = book.heartbeats(next.id());
    boolean turned =
        book.await(
                SOON,
                () ->
                    book.heartbeats(next.id()) > came
                        ? Optional.of(next)
                        : Optional.<ProbeNode>empty())
            .isPresent();
    silent.answer(true);
    return turned ? null : "it asks node " + silent.id() + " only, which answers UNAVAILABLE";
  }

  private @Nullable String registersAgain() throws InterruptedException {
    int before = book.registrations().size();
    lease.end();
    Optional<RegisterRequest> again =
        book.await(SOON, () -> book.registrations().stream().skip(before).findFirst());
    if (again.isEmpty()) {
      return "Register does not come after `ok=false`";
    }
    return again.get().getIncarnation().equals(registration.getIncarnation())
        ? null
        : "it registers with another incarnation, though it is the same process";
  }

  private @Nullable String opensStreamsAnew(Map<ProbeNode, Integer> before)
      throws InterruptedException {
    for (ProbeNode node : nodes) {
      String closed = reopened(node, before.getOrDefault(node, 0));
      if (closed != null) {
        return closed + " after another lease_id";
      }
    }
    return goesOn();
  }

  private Map<ProbeNode, Integer> counts(ToIntFunction<String> ofNode) {
    return nodes.stream()
        .collect(Collectors.toMap(Function.identity(), node -> ofNode.applyAsInt(node.id())));
  }

  private @Nullable String startsNothingPastItsLease() throws InterruptedException {
    nodes.forEach(node -> node.answer(false));
    Optional<Object> nothing =
        book.await(Duration.ofSeconds(ProbeNode.LEASE_SECONDS + 1), Optional::empty);
    String run = nextRun();
    assign(run, 0);
    String evidence = nothing.isPresent() ? "a wait ended early" : held(run);
    nodes.forEach(node -> node.answer(true));
    // The first of three may have come before, and the second is answered before the third.
    if (!awaitHeartbeats(3, STOP)) {
      return "it asks nobody any more";
    }
    return evidence == null ? quick() : evidence;
  }

  private @Nullable String drains() throws InterruptedException {
    int before = book.registrations().size();
    leader.say(message().setDrain(Drain.getDefaultInstance()));
    if (book.await(
            SOON,
            () ->
                book.registrations().stream()
                    .skip(before)
                    .filter(r -> r.getMaxConcurrency() == 0)
                    .findFirst())
        .isEmpty()) {
      return "Register with max_concurrency=0 does not come";
    }
    String late = nextRun();
    int mark = book.mark();
    assign(late, LONG_MS);
    if (!isSaid(mark, late, WorkerMessage::getReturnedList)) {
      return "it does not return what comes after the drain";
    }
    acknowledge(late);
    running.forEach(this::cancel);
    for (String run : running) {
      if (result(mark, run, STOP).isEmpty()) {
        return "it does not tell how what ran has ended";
      }
      acknowledge(run);
    }
    if (!worker.waitFor(STOP.toSeconds(), TimeUnit.SECONDS)) {
      return "its process goes on, though nothing is left";
    }
    if (worker.exitValue() != 0) {
      return "its process ends with " + worker.exitValue();
    }
    return book.hasLeft() ? null : "Deregister is not its last call";
  }
}
