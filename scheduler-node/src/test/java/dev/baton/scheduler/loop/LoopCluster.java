package dev.baton.scheduler.loop;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;

import com.google.protobuf.ByteString;
import dev.baton.coordination.Etcd;
import dev.baton.coordination.FailureDetector;
import dev.baton.coordination.Keys;
import dev.baton.coordination.Leadership;
import dev.baton.coordination.ThreadStrand;
import dev.baton.coordination.Txn;
import dev.baton.coordination.testing.RealEtcd;
import dev.baton.coordination.testing.UnkindEtcd;
import dev.baton.proto.journal.v1.SnapshotManifest;
import dev.baton.proto.v1.LeaderRecord;
import dev.baton.proto.v1.WorkerRecord;
import dev.baton.scheduler.engine.Effect.Answer;
import dev.baton.scheduler.engine.Effect.Verdict;
import dev.baton.scheduler.engine.Run;
import dev.baton.scheduler.journal.JournalClock;
import dev.baton.scheduler.model.AttemptName;
import dev.baton.scheduler.model.Outcome;
import dev.baton.scheduler.model.Refusal;
import dev.baton.scheduler.model.RefusalCode;
import dev.baton.scheduler.model.RunId;
import dev.baton.scheduler.model.RunStatus;
import dev.baton.scheduler.model.WorkerLife;
import dev.baton.scheduler.testing.Workflows;
import dev.baton.workflow.Resolver;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/** Scheduler nodes without their wires, in one process: loops, workers, and what they told. */
final class LoopCluster implements AutoCloseable {
  static final long GENERATION = 77;
  private static final Duration SHORT_TTL = Duration.ofSeconds(2);

  private final Supplier<Etcd> clients;
  private final Etcd etcd;
  private final Keys keys;
  private final Duration leaderTtl;
  private final ThreadStrand workerStrand = new ThreadStrand("workers");
  private final ExecutorService pool = Executors.newFixedThreadPool(2);
  private final Random random = new Random();
  private final Map<WorkerLife, TestWorker> workers = new ConcurrentHashMap<>();
  private final List<Node> nodes = new CopyOnWriteArrayList<>();
  private final List<Line> lines = new CopyOnWriteArrayList<>();

  /** Workers whose process is there, and their ports with it. */
  private final WorkerPorts workerPorts =
      new WorkerPorts() {
        @Override
        public CompletableFuture<Boolean> answers(String address, String incarnation) {
          boolean itself = openPorts.getOrDefault(address, "").equals(incarnation);
          asked.add(address);
          return CompletableFuture.completedFuture(itself);
        }

        @Override
        public CompletableFuture<Boolean> isRefused(String address) {
          return CompletableFuture.completedFuture(!openPorts.containsKey(address));
        }
      };

  /** Workers' ports that accept connections: address to the incarnation that answers. */
  final Map<String, String> openPorts = new ConcurrentHashMap<>();

  /** Workers' ports that were asked who answers there. */
  final List<String> asked = new CopyOnWriteArrayList<>();

  /** Nodes that are none, but answer pings: address to incarnation. */
  final Map<String, String> strangers = new ConcurrentHashMap<>();

  /**
   * @param clients makes a client of etcd
   */
  LoopCluster(Supplier<Etcd> clients, Etcd etcd, Keys keys) {
    this(clients, etcd, keys, SHORT_TTL);
  }

  /**
   * @param leaderTtl a leader that stands still for less goes on to lead
   */
  LoopCluster(Supplier<Etcd> clients, Etcd etcd, Keys keys, Duration leaderTtl) {
    this.clients = clients;
    this.etcd = etcd;
    this.keys = keys;
    this.leaderTtl = leaderTtl;
  }

  /** An answer that came. */
  record Heard(Answer answer, long seq) {
    Answer.Submitted submitted() {
      return assertInstanceOf(Answer.Submitted.class, answer);
    }

    Refusal refused(RefusalCode code) {
      Refusal refusal = assertInstanceOf(Answer.Refused.class, answer).refusal();
      assertEquals(code, refusal.code(), refusal::message);
      return refusal;
    }
  }

  /** One node. Its network to etcd can be cut, each client's apart. */
  final class Node implements AutoCloseable {
    final String id;
    final UnkindEtcd leases = new UnkindEtcd(clients.get());
    final UnkindEtcd appends = new UnkindEtcd(clients.get());
    final UnkindEtcd reads = new UnkindEtcd(clients.get());
    final ThreadStrand strand = new ThreadStrand("loop", true, this::onFault);
    final ThreadStrand leaseStrand = new ThreadStrand("leases");
    final JournalClock clock = new JournalClock();
    final List<String> told = new CopyOnWriteArrayList<>();
    final List<Integer> entries = new CopyOnWriteArrayList<>();
    final Sink sink = new Sink(this);
    final Loop parts;
    final SchedulerLoop loop;
    final Leadership leadership;
    volatile boolean storeIsFull;
    volatile boolean failsSnapshots;
    volatile boolean standsStill;
    final String incarnation = Long.toHexString(random.nextLong());
    private volatile boolean hasTakenOver;
    private volatile boolean closed;

    Node(String id, UnaryOperator<LoopSettings> settings) {
      this.id = id;
      this.parts =
          new Loop(
              strand,
              appends,
              reads,
              keys,
              clock,
              GENERATION,
              sink,
              new Wire(),
              new Told(),
              settings.apply(LoopSettings.defaults(id)),
              new Resolver(),
              pool,
              random);
      this.loop =
          new SchedulerLoop(
              parts,
              new SchedulerLoop.Outside(
                  () -> standbysOf(this),
                  workerPorts,
                  () -> storeIsFull,
                  loaded -> told.add("loaded " + loaded),
                  leads -> told.add("leads " + leads),
                  why -> told.add("fatal " + why)));
      LeaderRecord me =
          LeaderRecord.newBuilder()
              .setNodeId(id)
              .setIncarnation(incarnation)
              .setApiAddress(id)
              .build();
      this.leadership = new Leadership(leases, leaseStrand, random, keys, me, leaderTtl, loop);
    }

    private void onFault(Throwable fault) {
      loop.onStrandFault(fault);
    }

    /** The other nodes, as this one reaches them. */
    private final class Wire implements Peers {
      @Override
      public FailureDetector.Line open(String address, FailureDetector.LineListener listener) {
        Line line = new Line(address, find(address).orElse(null), listener);
        lines.add(line);
        if (line.to() == null && !strangers.containsKey(address)) {
          listener.onBroken();
        }
        return line;
      }

      @Override
      public CompletableFuture<Boolean> isRefused(String address) {
        return CompletableFuture.completedFuture(
            find(address).isEmpty() && !strangers.containsKey(address));
      }

      @Override
      public CompletableFuture<SnapshotManifest> askSnapshot(String address) {
        return ask(address);
      }
    }

    private CompletableFuture<SnapshotManifest> ask(String address) {
      told.add("asks " + address);
      return nodes.stream()
          .filter(node -> node.id.equals(address) && !node.failsSnapshots)
          .findFirst()
          .map(node ->
              node.standsStill
                  ? new CompletableFuture<SnapshotManifest>()
                  : node.loop.takeSnapshot())
          .orElseGet(() -> CompletableFuture.failedFuture(new IllegalStateException("not there")));
    }

    /** What the loop tells for metrics. */
    private final class Told implements LoopListener {
      @Override
      public void onDeposed(String evidence) {
        told.add("deposed " + evidence);
      }

      @Override
      public void onRole(Role role, long term) {
        hasTakenOver &= role == Role.LEADING;
        told.add(role + (term == 0 ? "" : " " + term));
      }

      @Override
      public void onEntry(int events, int bytes, Duration append) {
        entries.add(events);
      }

      @Override
      public void onStalled(boolean stalled) {
        told.add("stalled " + stalled);
      }

      @Override
      public void onFault(String what) {
        told.add("fault " + what);
      }

      @Override
      public void onAdopted() {
        told.add("adopted");
      }

      @Override
      public void onDropped(String command) {
        told.add("dropped " + command);
      }

      @Override
      public void onTakeOver(int keysRead, Duration took) {
        hasTakenOver = true;
      }

      @Override
      public void onSnapshot(long bytes) {
        told.add("snapshot");
      }
    }

    Node start() {
      nodes.add(this);
      workers.keySet().forEach(loop::onStreamOpened);
      loop.start(leadership);
      return this;
    }

    /** Its first entry is durable. */
    boolean isLeading() {
      return hasTakenOver;
    }

    Node awaitLeading() {
      RealEtcd.awaitUntil(id + " leads", this::isLeading);
      return this;
    }

    Node awaitStandby() {
      RealEtcd.awaitUntil(id + " follows", () -> loop.status().role() == Role.STANDBY);
      return this;
    }

    long faults() {
      return told.stream().filter(word -> word.startsWith("fault")).count();
    }

    void hear(WorkerLife from, WorkerReport report) {
      strand.execute(() -> loop.onReport(from, report, () -> {}));
    }

    <T> T onStrand(Supplier<T> task) {
      return RealEtcd.await(CompletableFuture.supplyAsync(task, strand));
    }

    /** Journal time goes on by so much at once; workers are heard of at that moment. */
    void advance(Duration time) {
      strand.execute(
          () -> clock.observe(clock.now(strand.nanoTime()) + time.toMillis(), strand.nanoTime()));
      workers.keySet().forEach(loop::onHeard);
    }

    CompletableFuture<Heard> submit(Submission submission) {
      CompletableFuture<Heard> heard = new CompletableFuture<>();
      loop.submit(submission, (answer, seq) -> heard.complete(new Heard(answer, seq)));
      return heard;
    }

    CompletableFuture<Heard> cancel(RunId run) {
      CompletableFuture<Heard> heard = new CompletableFuture<>();
      loop.cancel(run, "tester", "enough", (answer, seq) -> heard.complete(new Heard(answer, seq)));
      return heard;
    }

    /** Submits, and waits until it is durable. */
    RunId run(Submission submission) {
      Heard heard = RealEtcd.await(submit(submission));
      return heard.submitted().id();
    }

    <T> CompletableFuture<T> read(long minSeq, Duration timeout, Function<ReadView, T> query) {
      CompletableFuture<T> answer = new CompletableFuture<>();
      loop.read(
          minSeq,
          timeout,
          query,
          (found, refusal) -> {
            if (refusal == null) {
              answer.complete(found);
            } else {
              answer.completeExceptionally(new RefusedRead(refusal));
            }
          });
      return answer;
    }

    <T> T read(Function<ReadView, T> query) {
      return RealEtcd.await(read(0, RealEtcd.SOON, query));
    }

    /** RUNNING also if it is not live. */
    RunStatus status(RunId id) {
      return read(view -> {
        Run run = view.state().run(id);
        return run == null ? RunStatus.RUNNING : run.status();
      });
    }

    boolean isLive(RunId id) {
      return read(view -> view.state().run(id) != null);
    }

    void awaitStatus(RunId id, RunStatus status) {
      RealEtcd.awaitUntil(id + " is " + status, () -> status(id) == status);
    }

    void awaitRetired(RunId id) {
      RealEtcd.awaitUntil(
          id + " is retired", () -> read(view -> view.state().retained().find(id) != null));
    }

    /** Ends as a process does that is killed: nothing is given back. */
    void kill() {
      nodes.remove(this);
      lines.stream().filter(line -> line.to() == this).forEach(line -> line.listener().onBroken());
      closed = true;
      leases.down = true;
      appends.down = true;
      reads.down = true;
      strand.close();
      leaseStrand.close();
      leases.close();
      appends.close();
      reads.close();
    }

    /** Gives leadership back, as at SIGTERM. */
    void resign() {
      RealEtcd.await(loop.resign());
    }

    @Override
    public void close() {
      if (closed) {
        return;
      }
      RealEtcd.await(loop.resign());
      RealEtcd.await(leadership.close());
      RealEtcd.await(loop.close());
      kill();
    }
  }

  /** A read that was refused. */
  static final class RefusedRead extends RuntimeException {
    final transient Refusal refusal;

    RefusedRead(Refusal refusal) {
      super(refusal.message());
      this.refusal = refusal;
    }
  }

  /** The streams to workers: what is said between two flushes arrives together. */
  final class Sink implements WorkerSink {
    final List<String> words = new CopyOnWriteArrayList<>();
    final AtomicLong flushes = new AtomicLong();
    private final Node node;
    private final List<Runnable> gathered = new ArrayList<>();
    private long term;

    Sink(Node node) {
      this.node = node;
    }

    private void say(WorkerLife to, String word, Consumer<TestWorker> how) {
      TestWorker worker = workers.get(to);
      if (term != 0 && worker != null) {
        words.add(word);
        gathered.add(() -> how.accept(worker));
      }
    }

    @Override
    public void openTerm(long term) {
      this.term = term;
    }

    @Override
    public void closeTerm() {
      term = 0;
      gathered.clear();
    }

    @Override
    public void greet(WorkerLife to) {
      long now = term;
      say(to, "greet", worker -> worker.asked(now, node));
    }

    @Override
    public void askInventory(WorkerLife to) {
      long now = term;
      say(to, "ask", worker -> worker.asked(now, node));
    }

    @Override
    public void assign(WorkerLife to, Assignment assignment) {
      say(to, "assign " + assignment.name().taskId(), worker -> worker.assigned(assignment));
    }

    @Override
    public void cancel(WorkerLife to, AttemptName name, String reason) {
      say(to, "cancel " + name.taskId(), worker -> worker.cancelled(name));
    }

    @Override
    public void acknowledge(WorkerLife to, AttemptName name, Verdict verdict) {
      say(to, "ack " + name.taskId() + " " + verdict, w -> w.acknowledged(name, verdict));
    }

    @Override
    public void drain(WorkerLife to) {
      say(to, "drain", worker -> {});
    }

    @Override
    public void flush() {
      flushes.incrementAndGet();
      List<Runnable> leaving = List.copyOf(gathered);
      gathered.clear();
      leaving.forEach(Runnable::run);
    }
  }

  List<Node> running() {
    return nodes;
  }

  Node node(String id) {
    return node(id, settings -> settings);
  }

  Node node(String id, UnaryOperator<LoopSettings> settings) {
    return new Node(id, settings).start();
  }

  Node leader() {
    RealEtcd.awaitUntil("a leader", () -> nodes.stream().anyMatch(Node::isLeading));
    return nodes.stream().filter(Node::isLeading).findFirst().orElseThrow();
  }

  private Optional<Node> find(String address) {
    return nodes.stream().filter(node -> node.id.equals(address)).findFirst();
  }

  /** For pings; it breaks when the other end is killed. */
  private final class Line implements FailureDetector.Line {
    private final String address;
    private final @Nullable Node to;
    private final FailureDetector.LineListener listener;

    Line(String address, @Nullable Node to, FailureDetector.LineListener listener) {
      this.address = address;
      this.to = to;
      this.listener = listener;
    }

    @Nullable Node to() {
      return to;
    }

    FailureDetector.LineListener listener() {
      return listener;
    }

    @Override
    public void ping() {
      Node asked = to;
      String stranger = strangers.get(address);
      if (stranger != null) {
        listener.onPong(stranger);
      } else if (asked != null && !asked.standsStill) {
        asked.loop.onPing(() -> listener.onPong(asked.incarnation));
      }
    }

    @Override
    public void close() {
      lines.remove(this);
    }
  }

  private List<String> standbysOf(Node asker) {
    return nodes.stream()
        .filter(node -> node != asker && node.loop.status().role() == Role.STANDBY)
        .map(node -> node.id)
        .toList();
  }

  /** A worker that offers every type. */
  TestWorker worker(String id, int slots) {
    WorkerLife life = new WorkerLife(id, Long.toHexString(random.nextLong()));
    TestWorker worker = new TestWorker(this, workerStrand, life);
    workers.put(life, worker);
    WorkerRecord record =
        WorkerRecord.newBuilder()
            .setWorkerId(id)
            .setIncarnation(life.incarnation())
            .setHost(id)
            .setPort(1)
            .addCapabilities("*")
            .setSlots(slots)
            .build();
    RealEtcd.await(
        etcd.txn(
            new Txn(
                List.of(),
                List.of(new Txn.Op.Put(keys.worker(id), record.toByteString(), 0)),
                List.of()),
            RealEtcd.SOON));
    nodes.forEach(node -> node.loop.onStreamOpened(life));
    worker.start();
    return worker;
  }

  static String portOf(TestWorker worker) {
    return worker.life.workerId() + ":1";
  }

  /** Its process is gone: its streams break, but its lease holds. */
  void crash(TestWorker worker) {
    worker.die();
    workers.remove(worker.life);
    openPorts.remove(portOf(worker));
    nodes.forEach(node -> node.loop.onStreamClosed(worker.life));
  }

  /** Its streams break, and its lease ends. */
  void bury(TestWorker worker) {
    crash(worker);
    ByteString key = keys.worker(worker.life.workerId());
    RealEtcd.await(
        etcd.txn(new Txn(List.of(), List.of(new Txn.Op.Delete(key)), List.of()), RealEtcd.SOON));
  }

  Submission submission(String yaml) {
    return submission(yaml, "", "");
  }

  /** A run of its own id. */
  Submission submission(String yaml, String paramsJson, String key) {
    return new Submission(
        new RunId(System.currentTimeMillis() << 16, random.nextLong()),
        Workflows.definition(yaml),
        "default",
        Map.of(),
        "tester",
        key,
        paramsJson,
        (yaml + paramsJson).hashCode(),
        false);
  }

  static WorkerReport.Finished success(WorkerSink.Assignment assignment, String output) {
    return new WorkerReport.Finished(assignment.name(), Outcome.SUCCESS, output, "", 3, false);
  }

  @Override
  public void close() {
    List.copyOf(nodes).forEach(Node::close);
    workers.values().forEach(TestWorker::die);
    workerStrand.close();
    pool.shutdownNow();
  }
}
