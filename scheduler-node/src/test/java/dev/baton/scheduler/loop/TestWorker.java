package dev.baton.scheduler.loop;

import dev.baton.coordination.Strand;
import dev.baton.scheduler.engine.Effect.Verdict;
import dev.baton.scheduler.loop.WorkerReport.Finished;
import dev.baton.scheduler.loop.WorkerSink.Assignment;
import dev.baton.scheduler.model.AttemptName;
import dev.baton.scheduler.model.Outcome;
import dev.baton.scheduler.model.WorkerLife;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * A worker as the contract wants it, with the test for its handlers. It has a stream to every node
 * that runs, and keeps a result until it is acknowledged.
 */
final class TestWorker {
  private static final Duration PONG = Duration.ofMillis(500);

  final WorkerLife life;
  private final LoopCluster cluster;
  private final Strand strand;
  private final Map<AttemptName, Assignment> running = new LinkedHashMap<>();
  private final Map<AttemptName, Finished> outbox = new LinkedHashMap<>();
  private final List<Assignment> received = new ArrayList<>();
  private final List<AttemptName> cancels = new ArrayList<>();
  private final Map<AttemptName, List<Verdict>> acks = new LinkedHashMap<>();
  private @Nullable Function<Assignment, Finished> handler;
  private boolean hearsAcks = true;
  private boolean answersInventory = true;
  private boolean silent;
  private boolean mute;
  private long term;

  TestWorker(LoopCluster cluster, Strand strand, WorkerLife life) {
    this.cluster = cluster;
    this.strand = strand;
    this.life = life;
  }

  void start() {
    pong();
  }

  private void pong() {
    synchronized (this) {
      if (silent || mute) {
        return;
      }
    }
    cluster.running().forEach(node -> node.loop.onHeard(life));
    strand.schedule(PONG, this::pong);
  }

  // What the test says.

  /** Every assignment is handled at once from now on. */
  synchronized void handle(Function<Assignment, Finished> handler) {
    this.handler = handler;
  }

  synchronized void answersInventory(boolean answers) {
    answersInventory = answers;
  }

  /** False: acknowledgements are lost on their way. */
  synchronized void hearsAcks(boolean hears) {
    hearsAcks = hears;
  }

  /** An assignment is lost on its way. */
  synchronized void forget(AttemptName name) {
    running.remove(name);
  }

  /** It answers no pings any more. */
  synchronized void mute() {
    mute = true;
  }

  /** It says nothing any more, and hears nothing. */
  synchronized void die() {
    silent = true;
  }

  void end(AttemptName name, Outcome outcome, String output, String error, boolean isFinal) {
    Finished result = new Finished(name, outcome, output, error, 5, isFinal);
    synchronized (this) {
      running.remove(name);
      outbox.put(name, result);
    }
    say(report(List.of(result)));
  }

  void succeed(AttemptName name, String output) {
    end(name, Outcome.SUCCESS, output, "", false);
  }

  void fail(AttemptName name, String error) {
    end(name, Outcome.FAILED, "", error, false);
  }

  /** Says it once more, as after a lost acknowledgement. */
  void repeat(Finished result) {
    say(report(List.of(result)));
  }

  void say(WorkerReport report) {
    cluster.running().forEach(node -> node.hear(life, report));
  }

  private static WorkerReport report(List<Finished> results) {
    return new WorkerReport(null, results, List.of(), List.of(), List.of());
  }

  // What it has heard.

  /** Everything that it was told to start, each once. */
  synchronized Set<AttemptName> receivedNames() {
    return received.stream().map(Assignment::name).collect(Collectors.toSet());
  }

  synchronized List<AttemptName> running() {
    return List.copyOf(running.keySet());
  }

  synchronized List<AttemptName> cancels() {
    return List.copyOf(cancels);
  }

  synchronized List<Verdict> acks(AttemptName name) {
    return List.copyOf(acks.getOrDefault(name, List.of()));
  }

  synchronized boolean hasReceived(String taskId, int attempt) {
    return find(taskId, attempt) != null;
  }

  /** The assignment of an attempt; null: it has not come. */
  synchronized @Nullable Assignment find(String taskId, int attempt) {
    return received.stream()
        .filter(a -> a.name().taskId().equals(taskId) && a.name().attempt() == attempt)
        .findFirst()
        .orElse(null);
  }

  /** How often an attempt was assigned. */
  synchronized long count(AttemptName name) {
    return received.stream().filter(a -> a.name().equals(name)).count();
  }

  // What nodes say.

  void assigned(Assignment assignment) {
    Function<Assignment, Finished> handling;
    synchronized (this) {
      if (silent) {
        return;
      }
      received.add(assignment);
      if (running.containsKey(assignment.name()) || outbox.containsKey(assignment.name())) {
        return;
      }
      handling = handler;
      if (handling == null) {
        running.put(assignment.name(), assignment);
        return;
      }
    }
    Finished result = handling.apply(assignment);
    synchronized (this) {
      outbox.put(assignment.name(), result);
    }
    strand.execute(() -> say(report(List.of(result))));
  }

  synchronized void cancelled(AttemptName name) {
    cancels.add(name);
  }

  synchronized void acknowledged(AttemptName name, Verdict verdict) {
    if (!hearsAcks) {
      return;
    }
    acks.computeIfAbsent(name, n -> new ArrayList<>()).add(verdict);
    outbox.remove(name);
  }

  /** A leader greets, or asks what it holds; its results follow. */
  void asked(long term, LoopCluster.Node by) {
    WorkerReport inventory;
    List<Finished> results;
    synchronized (this) {
      this.term = Math.max(this.term, term);
      if (silent || !answersInventory) {
        return;
      }
      results = List.copyOf(outbox.values());
      inventory =
          new WorkerReport(
              new WorkerReport.Inventory(
                  this.term,
                  List.copyOf(running.keySet()),
                  List.copyOf(outbox.keySet()),
                  List.of(),
                  List.of()),
              List.of(),
              List.of(),
              List.of(),
              List.of());
    }
    strand.execute(() -> {
      by.hear(life, inventory);
      by.hear(life, report(results));
    });
  }
}
