package dev.baton.scheduler.loop;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.baton.coordination.testing.RealEtcd;
import dev.baton.scheduler.engine.Run;
import dev.baton.scheduler.loop.LoopCluster.Heard;
import dev.baton.scheduler.loop.LoopCluster.Node;
import dev.baton.scheduler.model.AttemptName;
import dev.baton.scheduler.model.Refusal;
import dev.baton.scheduler.model.RefusalCode;
import dev.baton.scheduler.model.RunId;
import dev.baton.scheduler.model.RunStatus;
import dev.baton.scheduler.testing.Workflows;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Reads and watches, on the leader and on a follower. */
class WatchTest extends RealEtcd {
  private LoopCluster nodes;
  private Node leader;
  private Node follower;
  private TestWorker worker;

  WatchTest() {
    super(1);
  }

  @BeforeEach
  void start() {
    nodes = new LoopCluster(() -> client("node"), etcd, keys);
    leader = nodes.node("n1").awaitLeading();
    follower = nodes.node("n2").awaitStandby();
    worker = nodes.worker("w", 8);
  }

  @AfterEach
  void stop() {
    nodes.close();
  }

  /** Writes down what it is told. */
  private static final class Watcher implements RunWatcher {
    final List<String> words = new CopyOnWriteArrayList<>();
    final AtomicInteger rendered = new AtomicInteger();
    volatile boolean over;

    @Override
    public Runnable changed(Run run, ReadView view, long term, String leaderNodeId) {
      rendered.incrementAndGet();
      StringBuilder word = new StringBuilder(run.status() + " by " + leaderNodeId + ":");
      for (int i = 0; i < run.size(); i++) {
        word.append(' ').append(run.task(i).status());
      }
      return () -> words.add(word.toString());
    }

    @Override
    public boolean isOver() {
      return over;
    }

    @Override
    public void gone() {
      words.add("gone");
    }
  }

  private static Watcher watch(Node node, RunId id, long minSeq) {
    Watcher watcher = new Watcher();
    node.loop.watch(
        id,
        minSeq,
        SOON,
        watcher,
        refusal -> watcher.words.add(refusal == null ? "not live" : refusal.code().name()));
    return watcher;
  }

  private AttemptName awaitAssigned(String task) {
    awaitUntil(task, () -> worker.hasReceived(task, 1));
    return Objects.requireNonNull(worker.find(task, 1)).name();
  }

  @Test
  void shouldTellEveryChangeOnEveryNodeAndEndWithTheRun() {
    Heard heard =
        await(
            leader.submit(
                nodes.submission(
                    "name: w\ntasks: [{id: a, type: echo}, {id: b, type: echo, dependsOn: [a]}]")));
    RunId id = heard.submitted().id();
    AttemptName a = awaitAssigned("a");
    Watcher atLeader = watch(leader, id, 0);
    Watcher atFollower = watch(follower, id, heard.seq());
    for (Watcher watcher : List.of(atLeader, atFollower)) {
      awaitUntil("the first word", () -> watcher.words.contains("RUNNING by n1: RUNNING PENDING"));
    }
    worker.succeed(a, "1");
    AttemptName b = awaitAssigned("b");
    for (Watcher watcher : List.of(atLeader, atFollower)) {
      awaitUntil("b runs", () -> watcher.words.contains("RUNNING by n1: SUCCESS RUNNING"));
    }
    worker.succeed(b, "2");
    for (Watcher watcher : List.of(atLeader, atFollower)) {
      awaitUntil("the end", () -> watcher.words.getLast().equals("SUCCESS by n1: SUCCESS SUCCESS"));
    }
    leader.awaitRetired(id);
    awaitAlways(
        "nothing more",
        Duration.ofMillis(200),
        () -> !atLeader.words.contains("gone") && !atFollower.words.contains("gone"));
    Watcher late = watch(leader, id, 0);
    awaitUntil("it is history", () -> late.words.equals(List.of("not live")));
  }

  @Test
  void shouldTellNothingBeforeItIsDurable() {
    RunId id = leader.run(nodes.submission(Workflows.one("w")));
    AttemptName a = awaitAssigned("a");
    Watcher watcher = watch(leader, id, 0);
    awaitUntil("the first word", () -> watcher.words.size() == 1);
    leader.appends.down = true;
    worker.succeed(a, "1");
    awaitAlways("silence", Duration.ofMillis(300), () -> watcher.words.size() == 1);
    Watcher second = watch(leader, id, 0);
    awaitAlways("silence", Duration.ofMillis(300), () -> second.words.isEmpty());
    leader.appends.down = false;
    awaitUntil("the end", () -> watcher.words.getLast().startsWith("SUCCESS"));
    awaitUntil("the end", () -> second.words.equals(List.of("SUCCESS by n1: SUCCESS")));
  }

  @Test
  void shouldSendWatchersToTheHistoryWhenARunEndsAndLeavesAtOnce() {
    RunId id = leader.run(nodes.submission(Workflows.one("w")));
    AttemptName a = awaitAssigned("a");
    long seq = leader.read(ReadView::seq);
    await(follower.read(seq, SOON, ReadView::seq));
    Watcher atLeader = watch(leader, id, 0);
    Watcher atFollower = watch(follower, id, 0);
    awaitUntil("the first word", () -> !atLeader.words.isEmpty() && !atFollower.words.isEmpty());
    leader.appends.down = true;
    int before = leader.appends.sent.size();
    var unused = leader.submit(nodes.submission(Workflows.one("v")));
    // What is in flight already is one entry; what follows stays open.
    awaitUntil("an entry is in flight", () -> leader.appends.sent.size() > before);
    worker.succeed(a, "1");
    leader.onStrand(() -> true);
    leader.advance(Duration.ofSeconds(3));
    awaitAlways("it ticks", Duration.ofMillis(300), () -> true);
    leader.appends.down = false;
    awaitUntil("they hear", () -> atLeader.words.getLast().equals("gone"));
    awaitUntil("they hear", () -> atFollower.words.getLast().equals("gone"));
    leader.awaitRetired(id);
  }

  @Test
  void shouldNotRenderForThoseWhoHaveGone() {
    RunId id = leader.run(nodes.submission(Workflows.wide("w", 3)));
    Watcher watcher = watch(leader, id, 0);
    awaitUntil("the first word", () -> !watcher.words.isEmpty());
    AttemptName a = awaitAssigned("t0");
    AttemptName b = awaitAssigned("t1");
    watcher.over = true;
    int before = watcher.rendered.get();
    worker.succeed(a, "1");
    awaitUntil("the ack", () -> !worker.acks(a).isEmpty());
    worker.succeed(b, "1");
    awaitUntil("the ack", () -> !worker.acks(b).isEmpty());
    assertTrue(watcher.rendered.get() - before <= 1, () -> watcher.words.toString());
  }

  @Test
  void shouldUnwatch() {
    RunId id = leader.run(nodes.submission(Workflows.one("w")));
    Watcher watcher = watch(leader, id, 0);
    awaitUntil("the first word", () -> !watcher.words.isEmpty());
    leader.loop.unwatch(id, watcher);
    int before = leader.onStrand(watcher.rendered::get);
    AttemptName a = awaitAssigned("a");
    worker.succeed(a, "1");
    leader.awaitStatus(id, RunStatus.SUCCESS);
    assertEquals(before, watcher.rendered.get());
  }

  @Test
  void shouldTellWatchersToGoElsewhereWhenTheTermEnds() {
    RunId id = leader.run(nodes.submission(Workflows.one("w")));
    Watcher watcher = watch(leader, id, 0);
    awaitUntil("the first word", () -> !watcher.words.isEmpty());
    leader.resign();
    awaitUntil("gone", () -> watcher.words.getLast().equals("gone"));
  }

  @Test
  void shouldWaitForTheEntryThatAReaderHasSeen() {
    for (Node node : List.of(leader, follower)) {
      long seq = await(leader.submit(nodes.submission(Workflows.one("w")))).seq();
      await(node.read(seq, SOON, ReadView::seq));
      leader.appends.down = true;
      CompletableFuture<Long> next = node.read(seq + 1, SOON, ReadView::seq);
      awaitAlways("it waits", Duration.ofMillis(150), () -> !next.isDone());
      leader.appends.down = false;
      while (!next.isDone()) {
        leader.run(nodes.submission(Workflows.one("w")));
      }
      assertTrue(await(next) >= seq + 1);
      assertEquals(
          RefusalCode.NOT_READY,
          refusalOf(node.read(seq + 1_000_000, Duration.ofMillis(200), ReadView::seq)).code());
    }
  }

  private static Refusal refusalOf(CompletableFuture<?> read) {
    return await(
        read.handle((Object found, @Nullable Throwable failure) ->
            ((LoopCluster.RefusedRead) Objects.requireNonNull(failure)).refusal));
  }
}
