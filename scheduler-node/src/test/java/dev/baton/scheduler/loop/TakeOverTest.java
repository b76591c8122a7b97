package dev.baton.scheduler.loop;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import dev.baton.coordination.testing.RealEtcd;
import dev.baton.proto.v1.LeaderRecord;
import dev.baton.scheduler.engine.Effect.Answer;
import dev.baton.scheduler.engine.Effect.Verdict;
import dev.baton.scheduler.loop.LoopCluster.Heard;
import dev.baton.scheduler.loop.LoopCluster.Node;
import dev.baton.scheduler.loop.WorkerSink.Assignment;
import dev.baton.scheduler.model.AttemptName;
import dev.baton.scheduler.model.Outcome;
import dev.baton.scheduler.model.RefusalCode;
import dev.baton.scheduler.model.RunId;
import dev.baton.scheduler.model.RunStatus;
import dev.baton.scheduler.testing.Operator;
import dev.baton.scheduler.testing.Workflows;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A leader and its successor. */
class TakeOverTest extends RealEtcd {
  private LoopCluster nodes;
  private Node leader;
  private Node standby;
  private TestWorker worker;

  TakeOverTest() {
    super(1);
  }

  @BeforeEach
  void start() {
    nodes = new LoopCluster(() -> client("node"), etcd, keys);
    leader = nodes.node("n1").awaitLeading();
    standby = nodes.node("n2").awaitStandby();
    worker = nodes.worker("w", 8);
  }

  @AfterEach
  void stop() {
    nodes.close();
  }

  private Assignment awaitAssigned(TestWorker worker, String task, int attempt) {
    awaitUntil(task + " #" + attempt, () -> worker.hasReceived(task, attempt));
    return Objects.requireNonNull(worker.find(task, attempt));
  }

  private Assignment awaitAssigned(String task, int attempt) {
    return awaitAssigned(worker, task, attempt);
  }

  private void failOver() {
    leader.resign();
    standby.awaitLeading();
  }

  @Test
  void shouldKeepWhatRunsAndSendAgainWhatIsMissing() {
    RunId id = leader.run(nodes.submission(Workflows.wide("w", 4)));
    List<AttemptName> names =
        Stream.of("t0", "t1", "t2", "t3").map(task -> awaitAssigned(task, 1).name()).toList();
    worker.hearsAcks(false);
    worker.succeed(names.get(2), "2");
    worker.forget(names.get(1));
    leader.kill();
    // A leader that asks while an assignment is on its way sends it twice: counted from here.
    List<Long> before = names.stream().map(worker::count).toList();
    worker.hearsAcks(true);
    standby.awaitLeading();
    awaitUntil("it is sent again", () -> worker.running().contains(names.get(1)));
    worker.succeed(names.get(0), "0");
    worker.succeed(names.get(1), "1");
    worker.succeed(names.get(3), "3");
    standby.awaitStatus(id, RunStatus.SUCCESS);
    assertTrue(worker.count(names.get(1)) > before.get(1), "by the new leader, too");
    assertEquals(before.getFirst(), worker.count(names.getFirst()), "what ran was left alone");
    assertEquals(before.getLast(), worker.count(names.getLast()), "what ran was left alone");
    assertEquals(4, worker.receivedNames().size(), "no attempt grew");
    assertEquals(0, standby.faults(), standby.told::toString);
  }

  @Test
  void shouldNotWaitForTheLeaseOfALeaderWhosePortRefuses() {
    RunId id = leader.run(nodes.submission(Workflows.one("w")));
    AttemptName name = awaitAssigned("a", 1).name();
    leader.kill();
    standby.awaitLeading();
    assertTrue(standby.told.contains("deposed refused"), standby.told::toString);
    worker.succeed(name, "1");
    standby.awaitStatus(id, RunStatus.SUCCESS);
    assertEquals(1, worker.receivedNames().size(), "no attempt grew");
    assertEquals(0, standby.faults(), standby.told::toString);
  }

  @Test
  void shouldStepDownWhenItsKeyIsDeleted() {
    RunId id = leader.run(nodes.submission(Workflows.one("w")));
    AttemptName name = awaitAssigned("a", 1).name();
    delete(keys.leader());
    awaitUntil("it steps down", () -> leader.told.contains("leads false"));
    Node next = nodes.leader();
    worker.succeed(name, "1");
    next.awaitStatus(id, RunStatus.SUCCESS);
    assertEquals(0, leader.faults(), leader.told::toString);
  }

  @Test
  void shouldStepDownWhenItsKeyIsStolenAndSayNothingMore() {
    leader.run(nodes.submission(Workflows.one("w")));
    AttemptName name = awaitAssigned("a", 1).name();
    nodes.strangers.put("thief", "x");
    put(
        keys.leader(),
        LeaderRecord.newBuilder()
            .setNodeId("thief")
            .setIncarnation("x")
            .setApiAddress("thief")
            .build()
            .toByteString());
    CompletableFuture<Heard> submitted = leader.submit(nodes.submission(Workflows.one("late")));
    worker.succeed(name, "1");
    await(submitted).refused(RefusalCode.NOT_READY);
    awaitUntil("it steps down", () -> leader.told.contains("leads false"));
    leader.awaitStandby();
    awaitAlways("nobody answers", Duration.ofMillis(500), () -> worker.acks(name).isEmpty());
    assertEquals("thief", Objects.requireNonNull(leader.loop.leader().leader()).getNodeId());
    assertFalse(leader.loop.leader().isSelf());
    delete(keys.leader());
    Node next = nodes.leader();
    awaitUntil("the ack", () -> worker.acks(name).contains(Verdict.ACCEPTED));
    assertEquals(0, next.faults(), next.told::toString);
  }

  @Test
  void shouldJudgeResultsThatComeTwiceOrTooLate() {
    leader.run(
        nodes.submission(
            "name: w\ntasks: [{id: a, type: echo, retry: {attempts: 3, delay: 1s}}, {id: b, type: echo}]"));
    AttemptName first = awaitAssigned("a", 1).name();
    worker.fail(first, "broken");
    awaitUntil("the ack", () -> worker.acks(first).equals(List.of(Verdict.ACCEPTED)));
    failOver();
    WorkerReport.Finished again =
        new WorkerReport.Finished(first, Outcome.SUCCESS, "1", "", 5, false);
    worker.repeat(again);
    awaitUntil("a verdict", () -> worker.acks(first).size() == 2);
    assertEquals(Verdict.DUPLICATE, worker.acks(first).get(1));
    awaitAssigned("a", 2);
    worker.repeat(again);
    awaitUntil("a verdict", () -> worker.acks(first).size() == 3);
    assertEquals(Verdict.STALE, worker.acks(first).get(2));
    AttemptName unknown = new AttemptName(new RunId(1, 1).toString(), "a", 1);
    worker.repeat(new WorkerReport.Finished(unknown, Outcome.SUCCESS, "1", "", 5, false));
    awaitUntil("a verdict", () -> worker.acks(unknown).equals(List.of(Verdict.UNKNOWN)));
  }

  @Test
  void shouldKeepTheDelayOfARetry() {
    leader.run(
        nodes.submission(
            "name: w\ntasks: [{id: a, type: echo, retry: {attempts: 2, delay: 1h, maxDelay: 1h}}]"));
    AttemptName name = awaitAssigned("a", 1).name();
    worker.fail(name, "broken");
    awaitUntil("the ack", () -> !worker.acks(name).isEmpty());
    failOver();
    standby.advance(Duration.ofMinutes(40));
    awaitAlways("not yet", Duration.ofMillis(400), () -> !worker.hasReceived("a", 2));
    standby.advance(Duration.ofMinutes(21));
    awaitAssigned("a", 2);
  }

  @Test
  void shouldKnowARunByItsIdAndByItsKeyAlsoAfterItLeft() {
    worker.handle(assignment -> LoopCluster.success(assignment, "1"));
    Submission submission = nodes.submission(Workflows.one("w"), "", "my-key");
    RunId id = leader.run(submission);
    failOver();
    assertTrue(await(standby.submit(submission)).submitted().existing());
    Heard byKey = await(standby.submit(nodes.submission(Workflows.one("w"), "", "my-key")));
    assertEquals(id, byKey.submitted().id());
    assertTrue(byKey.submitted().existing());
    await(standby.submit(nodes.submission(Workflows.one("other"), "", "my-key")))
        .refused(RefusalCode.KEY_CONFLICT);
    standby.awaitRetired(id);
    assertTrue(await(standby.submit(submission)).submitted().existing());
    Answer before =
        await(standby.submit(nodes.submission(Workflows.one("w"), "", "my-key"))).answer();
    long historySeq = assertInstanceOf(Answer.SubmittedBefore.class, before).historySeq();
    assertTrue(exists(keys.history(historySeq)));
    await(standby.submit(nodes.submission(Workflows.one("other"), "", "my-key")))
        .refused(RefusalCode.KEY_CONFLICT);
  }

  @Test
  void shouldGiveUpAWorkerThatIsGoneAndTakeItsLateSuccess() {
    TestWorker second = nodes.worker("w2", 8);
    RunId id = leader.run(nodes.submission(Workflows.one("w")));
    awaitUntil("it runs", () -> worker.hasReceived("a", 1) || second.hasReceived("a", 1));
    TestWorker holder = worker.hasReceived("a", 1) ? worker : second;
    TestWorker other = holder == worker ? second : worker;
    nodes.bury(holder);
    AttemptName next = awaitAssigned(other, "a", 2).name();
    other.succeed(next, "2");
    leader.awaitStatus(id, RunStatus.SUCCESS);
  }

  @Test
  void shouldTakeOverByReadingFewKeys() {
    worker.handle(assignment -> LoopCluster.success(assignment, "1"));
    for (int i = 0; i < 20; i++) {
      leader.run(nodes.submission(Workflows.diamond("w")));
    }
    long seq = leader.loop.status().seq();
    awaitUntil("it follows", () -> standby.loop.status().seq() >= seq);
    standby.reads.reads.clear();
    failOver();
    long beyondWorkers =
        standby.reads.reads.stream().filter(key -> !key.startsWith(keys.workers())).count();
    assertTrue(beyondWorkers <= 10, () -> beyondWorkers + " reads");
  }

  @Test
  void shouldGiveTheKeyBackWhenItCannotFinishTheTakeOver() {
    long seq = await(leader.submit(nodes.submission(Workflows.one("w")))).seq();
    await(standby.read(seq, SOON, ReadView::seq));
    standby.reads.hold(key -> key.startsWith(keys.journal()) || key.equals(keys.head()));
    RunId id = leader.run(nodes.submission(Workflows.one("w")));
    long missing = seq + 1;
    ByteString entry = get(keys.journal(missing)).value();
    delete(keys.journal(missing));
    leader.resign();
    awaitUntil("it wins", () -> standby.told.stream().anyMatch(w -> w.startsWith("TAKING_OVER")));
    standby.reads.release();
    awaitUntil("it gives up", () -> standby.loop.status().role() == Role.LOADING);
    awaitUntil("it gives the key back", () -> !exists(keys.leader()));
    put(keys.journal(missing), entry);
    standby.awaitLeading();
    assertEquals(RunStatus.RUNNING, standby.status(id));
    assertEquals(0, standby.faults(), standby.told::toString);
  }

  @Test
  void shouldHaveAConnectionForItsFirstEntry() {
    awaitUntil("it was used", () -> standby.appends.reads.contains(keys.leader()));
    assertEquals(List.of(), standby.appends.sent, "to read only");
  }

  @Test
  void shouldKnowAWorkerThatRegistersWhileTheWorkersAreListed() {
    standby.reads.hold(key -> key.startsWith(keys.workers()));
    failOver();
    TestWorker late = nodes.worker("late", 8);
    late.handle(assignment -> LoopCluster.success(assignment, "1"));
    standby.reads.release();
    awaitUntil(
        "it knows it",
        () -> await(standby.read(0, SOON, view -> view.fleet().registration("late") != null)));
    nodes.bury(worker);
    RunId id = standby.run(nodes.submission(Workflows.one("w")));
    standby.awaitStatus(id, RunStatus.SUCCESS);
    assertEquals(0, standby.faults(), standby.told::toString);
  }

  @Test
  void shouldKeepOneLeaseForCampaignsHoweverOftenTheyChange() {
    try (Operator operator = new Operator(cluster.endpoints().getFirst())) {
      for (int i = 0; i < 3; i++) {
        String term = get(keys.leader()).toString();
        delete(keys.leader());
        awaitUntil(
            "another term",
            () -> exists(keys.leader()) && !get(keys.leader()).toString().equals(term));
        nodes.leader();
      }
      awaitUntil("the leases of the past are gone", () -> operator.leases() <= 2);
    }
    assertTrue(leader.leadership.leases() <= 1);
    assertTrue(standby.leadership.leases() <= 1);
  }

  @Test
  void shouldServeReadsOfWhatItFollows() {
    RunId id = leader.run(nodes.submission(unoffered("w")));
    Heard heard = await(leader.submit(nodes.submission(unoffered("v"))));
    boolean known =
        await(
            standby.read(
                heard.seq(),
                SOON,
                view -> view.state().run(id) != null && view.seq() >= heard.seq()));
    assertTrue(known);
    CompletableFuture<Boolean> future =
        standby.read(heard.seq() + 1, SOON, view -> view.seq() > heard.seq());
    awaitAlways("it waits", Duration.ofMillis(200), () -> !future.isDone());
    leader.run(nodes.submission(unoffered("u")));
    assertTrue(await(future));
  }

  /** No worker here offers its type, so no further entry follows from it. */
  private static String unoffered(String name) {
    return "name: " + name + "\ntasks: [{id: a, type: shell, params: {command: 'true'}}]";
  }
}
