package dev.baton.chaos.workload;

import dev.baton.chaos.history.Observation;
import dev.baton.chaos.history.Observation.Kind;
import dev.baton.chaos.history.Observation.Planned;
import dev.baton.chaos.history.Observation.RunRead;
import dev.baton.client.BatonClient;
import dev.baton.client.BatonException;
import dev.baton.client.ClientOptions;
import dev.baton.client.Endpoint;
import dev.baton.proto.v1.CancelRunRequest;
import dev.baton.proto.v1.CancelRunResponse;
import dev.baton.proto.v1.GetRunRequest;
import dev.baton.proto.v1.GetRunResponse;
import dev.baton.proto.v1.RefusalCode;
import dev.baton.proto.v1.SubmitRunRequest;
import dev.baton.proto.v1.SubmitRunResponse;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * Submits runs at a steady rate and follows each to its end. One thread paces and polls; calls are
 * asynchronous; whole runs are read by virtual threads, few at a time.
 */
public final class Workload implements AutoCloseable {
  private static final Duration CALL_TIMEOUT = Duration.ofSeconds(10);
  private static final Duration FIRST_LOOK = Duration.ofMillis(600);
  private static final Duration NEXT_LOOK = Duration.ofSeconds(1);
  private static final int READERS = 24;

  /** Past it nothing new is submitted: a cluster that hangs must not fill this program. */
  private static final int MAX_OPEN = 5000;

  private static final int CLIENTS = 3;

  private final Consumer<Observation> journal;
  private final Plans plans;
  private final Operations operations;
  private final List<BatonClient> clients = new ArrayList<>();
  private final ScheduledExecutorService pacer =
      Executors.newSingleThreadScheduledExecutor(
          Thread.ofPlatform().name("chaos-load").daemon().factory());
  private final ExecutorService readers = Executors.newVirtualThreadPerTaskExecutor();
  private final Semaphore readerRoom = new Semaphore(READERS);
  private final Set<String> planned = Collections.synchronizedSet(new LinkedHashSet<>());
  private final Set<String> following = ConcurrentHashMap.newKeySet();
  private final Set<String> outputsRead = ConcurrentHashMap.newKeySet();
  private final AtomicLong acknowledged = new AtomicLong();
  private final AtomicLong ended = new AtomicLong();
  private final AtomicLong heldBack = new AtomicLong();
  private int turn;
  private @Nullable Future<?> pace;

  /**
   * Connects; nothing is submitted yet.
   *
   * @param witness file to which commands append
   */
  public Workload(
      List<Endpoint> endpoints,
      RandomGenerator random,
      Path witness,
      Consumer<Observation> journal) {
    this.journal = journal;
    this.plans = new Plans(random, witness);
    this.operations = new Operations(journal);
    for (int i = 0; i < CLIENTS; i++) {
      List<Endpoint> from = new ArrayList<>(endpoints);
      Collections.rotate(from, i);
      clients.add(new BatonClient(ClientOptions.of(from).withCallTimeout(CALL_TIMEOUT)));
    }
  }

  /** Submits so many runs a second from now on, evenly. */
  public void start(double runsPerSecond) {
    long periodNanos = (long) (1e9 / runsPerSecond);
    pace = pacer.scheduleAtFixedRate(this::submitQuietly, 0, periodNanos, TimeUnit.NANOSECONDS);
  }

  /** Submits nothing new; what was submitted is followed on. */
  public void stop() {
    if (pace != null) {
      pace.cancel(false);
    }
  }

  public long acknowledged() {
    return acknowledged.get();
  }

  /** Runs that were seen to end. */
  public long ended() {
    return ended.get();
  }

  /** Runs that are followed: they have not ended, or were not read yet. */
  public int following() {
    return following.size();
  }

  /** Submissions that were left out because too many operations had no answer. */
  public long heldBack() {
    return heldBack.get();
  }

  private void submitQuietly() {
    try {
      submit();
    } catch (RuntimeException e) {
      // A client that is being closed; the pacer must not end by it.
      heldBack.incrementAndGet();
    }
  }

  private void submit() {
    if (operations.open() + following.size() > MAX_OPEN) {
      heldBack.incrementAndGet();
      return;
    }
    Plan plan = plans.draw();
    BatonClient client = clients.get(turn++ % clients.size());
    String run = client.drawRunId();
    String key = plan.keyed() ? "key-" + run : "";
    submit(client, plan, run, key);
    if (plan.keyed()) {
      BatonClient other = clients.get(turn % clients.size());
      submit(other, plan, other.drawRunId(), key);
    }
  }

  private void submit(BatonClient client, Plan plan, String run, String key) {
    journal.accept(new Planned(System.nanoTime(), run, key, plan.shape(), plan.tasks()));
    planned.add(run);
    following.add(run);
    SubmitRunRequest request =
        SubmitRunRequest.newBuilder()
            .setRunId(run)
            .setDefinition(plan.definition())
            .putParams("w", '"' + plan.word() + '"')
            .setKey(key)
            .build();
    var unused =
        operations
            .record(
                Kind.SUBMIT, run, SubmitRunResponse::getRunId, () -> client.submitAsync(request))
            .whenCompleteAsync(
                (answer, failure) -> {
                  if (answer != null) {
                    acknowledged.incrementAndGet();
                  }
                  if (answer != null && !answer.getRunId().equals(run)) {
                    // The other submission under its key made the run.
                    following.remove(run);
                  } else {
                    later(FIRST_LOOK, () -> look(client, run));
                  }
                },
                pacer);
    if (plan.cancelAfter().isPositive()) {
      later(plan.cancelAfter(), () -> cancel(client, run));
    }
  }

  private void later(Duration delay, Runnable task) {
    if (!pacer.isShutdown()) {
      var unused = pacer.schedule(task, delay.toMillis(), TimeUnit.MILLISECONDS);
    }
  }

  private void cancel(BatonClient client, String run) {
    CancelRunRequest request =
        CancelRunRequest.newBuilder().setRunId(run).setReason("chaos").build();
    var unused =
        operations.record(
            Kind.CANCEL,
            run,
            (CancelRunResponse answer) -> run,
            () -> CompletableFuture.supplyAsync(() -> client.cancel(request), readers));
  }

  /** Asks how a run is, again and again until it has ended. */
  private void look(BatonClient client, String run) {
    GetRunRequest request = GetRunRequest.newBuilder().setRunId(run).setSummaryOnly(true).build();
    var unused =
        operations
            .record(
                Kind.GET,
                run,
                (GetRunResponse answer) -> answer.getRun().getRunId(),
                () -> client.getAsync(request))
            .whenCompleteAsync(
                (answer, failure) -> {
                  if (answer != null && RunReader.hasEnded(answer.getRun())) {
                    var unusedReading = readers.submit(() -> readEnded(client, run));
                  } else if (isUnknownRun(failure)) {
                    // A submission without an answer that came to nothing; the last reading tells.
                    following.remove(run);
                  } else {
                    later(NEXT_LOOK, () -> look(client, run));
                  }
                },
                pacer);
  }

  private static boolean isUnknownRun(@Nullable Throwable failure) {
    BatonException refused = failure == null ? null : Operations.refusal(failure);
    return refused != null && refused.code() == RefusalCode.RUN_NOT_FOUND;
  }

  private void readEnded(BatonClient client, String run) {
    RunRead read = read(client, run, false, true);
    if (read.tasks().isEmpty() || read.state().equals(RunRead.RUNNING)) {
      later(NEXT_LOOK, () -> look(client, run));
      return;
    }
    outputsRead.add(run);
    ended.incrementAndGet();
    following.remove(run);
  }

  private RunRead read(BatonClient client, String run, boolean last, boolean outputs) {
    readerRoom.acquireUninterruptibly();
    try {
      RunRead read = new RunReader(client).read(run, last, outputs);
      journal.accept(read);
      return read;
    } finally {
      readerRoom.release();
    }
  }

  /**
   * Reads all planned runs once more; outputs only where they were not read yet, and of each tenth.
   */
  public void readAll() throws InterruptedException {
    List<Future<?>> reading = new ArrayList<>();
    int index = 0;
    for (String run : List.copyOf(planned)) {
      boolean outputs = index % 10 == 0 || !outputsRead.contains(run);
      BatonClient client = clients.get(index++ % clients.size());
      reading.add(readers.submit(() -> read(client, run, true, outputs)));
    }
    for (Future<?> each : reading) {
      try {
        each.get();
      } catch (ExecutionException e) {
        throw new IllegalStateException("A run could not be read.", e);
      }
    }
  }

  @Override
  public void close() {
    stop();
    pacer.shutdownNow();
    clients.forEach(BatonClient::close);
    readers.shutdownNow();
  }
}
