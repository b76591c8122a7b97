package dev.baton.worker.attempt;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import dev.baton.coordination.Strand;
import dev.baton.coordination.ThreadStrand;
import dev.baton.proto.v1.TaskAssignment;
import dev.baton.proto.v1.TaskProgress;
import dev.baton.proto.v1.TaskResult;
import dev.baton.proto.v1.TaskResult.Status;
import dev.baton.worker.FatalTaskException;
import dev.baton.worker.TaskFailedException;
import dev.baton.worker.TaskHandler;
import dev.baton.worker.protocol.AttemptId;
import io.micrometer.core.instrument.Timer;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class AttemptsTest {
  private static final AttemptId ID = new AttemptId("run", "task", 1);

  private final ThreadStrand strand = new ThreadStrand("test");
  private final SimpleMeterRegistry registry = new SimpleMeterRegistry();
  private final BlockingQueue<TaskResult> results = new LinkedBlockingQueue<>();
  private final BlockingQueue<AttemptId> overdue = new LinkedBlockingQueue<>();
  private final BlockingQueue<AttemptId> returned = new LinkedBlockingQueue<>();
  private final BlockingQueue<TaskProgress> progress = new LinkedBlockingQueue<>();

  record Point(int x, int y) {}

  @AfterEach
  void close() {
    strand.close();
  }

  @Test
  void shouldMakeJsonOfWhatAHandlerReturns() throws Exception {
    assertEquals("{\"x\":1,\"y\":2}", run(task -> new Point(1, 2)).getOutputJson());
    assertEquals("\"text\"", run(task -> "text").getOutputJson());
    assertEquals("[1,2]", run(task -> List.of(1, 2)).getOutputJson());
    assertEquals("", run(task -> null).getOutputJson());
    assertEquals("{\"a\":1}", run(task -> task.input("in")).getOutputJson());
  }

  @Test
  void shouldReadInputsAsTypes() throws Exception {
    TaskResult result =
        run(task -> {
          Map<String, JsonNode> all = task.inputs();
          Point point = task.input("point", Point.class);
          return List.of(
              all.size(),
              point.x(),
              task.input("name", String.class),
              task.find("none").isPresent(),
              task.runId(),
              task.taskId(),
              task.attempt(),
              task.idempotencyKey());
        });
    assertEquals("[3,4,\"Ada\",false,\"run\",\"task\",1,\"run/task\"]", result.getOutputJson());
  }

  @Test
  void shouldEndRetriesWhenAnInputIsMissingOrOfAnotherType() throws Exception {
    TaskResult missing = run(task -> task.input("none"));
    assertEquals(
        "Expected the input 'none', but the task has only [in, name, point].",
        missing.getErrorMessage());
    assertTrue(missing.getFinal());
    TaskResult wrong = run(task -> task.input("name", Integer.class));
    assertTrue(wrong.getErrorMessage().startsWith("Expected the input 'name' to be a Integer"));
    assertTrue(wrong.getFinal());
  }

  @Test
  void shouldFailWithClassAndMessage() throws Exception {
    TaskResult result =
        run(task -> {
          throw new IllegalArgumentException("no such thing");
        });
    assertEquals(Status.FAILED, result.getStatus());
    assertEquals("java.lang.IllegalArgumentException: no such thing", result.getErrorMessage());
    assertFalse(result.getFinal());
  }

  @Test
  void shouldLeaveTheClassOutWhenAHandlerSpeaksForItself() throws Exception {
    TaskResult failed =
        run(task -> {
          throw new TaskFailedException("the door is locked");
        });
    assertEquals("the door is locked", failed.getErrorMessage());
    assertFalse(failed.getFinal());
    TaskResult fatal =
        run(task -> {
          throw new FatalTaskException("there is no door");
        });
    assertEquals("there is no door", fatal.getErrorMessage());
    assertTrue(fatal.getFinal());
  }

  @Test
  void shouldSurviveErrors() throws Exception {
    for (Error error :
        List.of(
            new OutOfMemoryError("heap"), new NoClassDefFoundError("X"), new AssertionError())) {
      TaskResult result =
          run(task -> {
            throw error;
          });
      assertEquals(Status.FAILED, result.getStatus());
      assertTrue(result.getErrorMessage().contains(error.getClass().getName()));
    }
    TaskResult deep = run(task -> endless(1));
    assertEquals("java.lang.StackOverflowError", deep.getErrorMessage());
  }

  @Test
  void shouldCutErrorsAtFourKibibytesBetweenCharacters() throws Exception {
    TaskResult result =
        run(task -> {
          throw new TaskFailedException("x" + "é".repeat(5_000));
        });
    assertEquals(4095, result.getErrorMessage().getBytes(StandardCharsets.UTF_8).length);
    assertTrue(result.getErrorMessage().endsWith("é"));
  }

  @Test
  void shouldFailWhenTheOutputCannotBeMadeJson() throws Exception {
    TaskResult result = run(task -> new Object());
    assertEquals(Status.FAILED, result.getStatus());
    assertTrue(
        result
            .getErrorMessage()
            .startsWith("The output, a java.lang.Object, cannot be made JSON: No serializer"),
        result.getErrorMessage());
    Map<String, Object> cycle = new HashMap<>();
    cycle.put("me", cycle);
    assertTrue(run(task -> cycle).getErrorMessage().contains("cannot be made JSON"));
  }

  @Test
  void shouldAcceptAnOutputOfTheLimitAndRefuseOneByteMore() throws Exception {
    assertEquals(Status.SUCCESS, run(task -> "x".repeat((256 << 10) - 2)).getStatus());
    TaskResult result = run(task -> "x".repeat((256 << 10) - 1));
    assertEquals(Status.FAILED, result.getStatus());
    assertEquals(
        "The output has 262145 bytes as JSON, but at most 262144 are allowed. Store it elsewhere"
            + " and return where it is.",
        result.getErrorMessage());
  }

  @Test
  void shouldSayWhenThereIsNoHandler() throws Exception {
    Attempts attempts = attempts(Map.of("other", task -> null));
    strand.execute(() -> attempts.start(assignment(0)));
    assertEquals(
        "This worker has no handler for the task type 'test'; it has [other].",
        next().getErrorMessage());
  }

  @Test
  void shouldTimeOut() throws Exception {
    CompletableFuture<Duration> remaining = new CompletableFuture<>();
    Attempts attempts =
        attempts(task -> {
          remaining.complete(task.remaining().orElseThrow());
          new CountDownLatch(1).await();
          return null;
        });
    strand.execute(() -> attempts.start(assignment(150)));
    TaskResult result = next();
    assertEquals(Status.TIMEOUT, result.getStatus());
    assertEquals("timed out after 150 ms", result.getErrorMessage());
    assertTrue(result.getDurationMs() >= 150);
    assertTrue(remaining.join().toMillis() <= 150);
  }

  @Test
  void shouldTimeOutThoughTheHandlerReturnsAValueAfterwards() throws Exception {
    Attempts attempts =
        attempts(task -> {
          try {
            new CountDownLatch(1).await();
          } catch (InterruptedException e) {
            return "half";
          }
          return "whole";
        });
    strand.execute(() -> attempts.start(assignment(50)));
    assertEquals(Status.TIMEOUT, next().getStatus());
  }

  @Test
  void shouldCancelByInterruptFlagAndAction() throws Exception {
    CountDownLatch began = new CountDownLatch(1);
    CompletableFuture<String> action = new CompletableFuture<>();
    Attempts attempts =
        attempts(task -> {
          task.onCancel(() -> action.complete("cancelled"));
          began.countDown();
          try {
            new CountDownLatch(1).await();
          } catch (InterruptedException e) {
            assertTrue(task.isCancelled());
            throw e;
          }
          return null;
        });
    strand.execute(() -> attempts.start(assignment(0)));
    assertTrue(began.await(5, TimeUnit.SECONDS));
    strand.execute(() -> attempts.cancel(ID, "by ada"));
    TaskResult result = next();
    assertEquals(Status.CANCELLED, result.getStatus());
    assertEquals("cancelled: by ada", result.getErrorMessage());
    assertEquals("cancelled", action.get(5, TimeUnit.SECONDS));
  }

  @Test
  void shouldRecordASuccessThatComesAfterACancel() throws Exception {
    CountDownLatch began = new CountDownLatch(1);
    CountDownLatch cancelled = new CountDownLatch(1);
    Attempts attempts =
        attempts(task -> {
          task.onCancel(cancelled::countDown);
          began.countDown();
          while (true) {
            try {
              cancelled.await();
              return "done";
            } catch (InterruptedException e) {
              // The action follows.
            }
          }
        });
    strand.execute(() -> attempts.start(assignment(0)));
    assertTrue(began.await(5, TimeUnit.SECONDS));
    strand.execute(() -> attempts.cancel(ID, ""));
    TaskResult result = next();
    assertEquals(Status.SUCCESS, result.getStatus());
    assertEquals("\"done\"", result.getOutputJson());
  }

  @Test
  void shouldReportAHandlerThatDoesNotReturn() throws Exception {
    CountDownLatch began = new CountDownLatch(1);
    CountDownLatch release = new CountDownLatch(1);
    SteppedStrand stepped = new SteppedStrand(strand);
    Attempts attempts =
        new Attempts(
            Map.of(
                "test",
                task -> {
                  began.countDown();
                  while (release.getCount() > 0) {
                    try {
                      release.await();
                    } catch (InterruptedException e) {
                      // It does not want to hear it.
                    }
                  }
                  return null;
                }),
            stepped,
            listener(),
            new AttemptTimers(registry),
            null);
    strand.execute(() -> attempts.start(assignment(0)));
    assertTrue(began.await(5, TimeUnit.SECONDS));
    strand.execute(() -> attempts.cancel(ID, "by ada"));
    strand.execute(stepped::fire);
    TaskResult result = next();
    assertEquals(Status.CANCELLED, result.getStatus());
    assertEquals(
        "cancelled: by ada; its handler had not returned 10 s later", result.getErrorMessage());
    assertEquals(ID, overdue.poll(5, TimeUnit.SECONDS));
    assertEquals(1, attempts.count());
    release.countDown();
    assertEquals(ID, returned.poll(5, TimeUnit.SECONDS));
    assertEquals(0, results.size(), "it is reported once");
  }

  @Test
  void shouldReportNothingOfWhatIsAbandoned() throws Exception {
    CountDownLatch began = new CountDownLatch(1);
    Attempts attempts =
        attempts(task -> {
          began.countDown();
          new CountDownLatch(1).await();
          return null;
        });
    strand.execute(() -> attempts.start(assignment(0)));
    assertTrue(began.await(5, TimeUnit.SECONDS));
    strand.execute(attempts::abandon);
    await().until(() -> on(attempts::count) == 0);
    assertEquals(0, results.size());
  }

  @Test
  void shouldTellProgress() throws Exception {
    run(task -> {
      task.progress(7, "p".repeat(300));
      return null;
    });
    TaskProgress word = progress.poll(5, TimeUnit.SECONDS);
    assertEquals(1.0, word == null ? -1 : word.getFraction());
    assertEquals(200, word == null ? -1 : word.getMessage().length());
  }

  @Test
  void shouldMeasureByTypeAndStatus() throws Exception {
    run(task -> null);
    Timer timer =
        registry
            .get("workflow.task.duration")
            .tags("task_type", "test", "status", "SUCCESS")
            .timer();
    assertEquals(1, timer.count());
  }

  @Test
  void shouldWriteATrace(@TempDir Path directory) throws Exception {
    Path file = directory.resolve("trace");
    try (TraceFile trace = new TraceFile(file)) {
      Attempts attempts =
          new Attempts(
              Map.of("test", task -> null), strand, listener(), new AttemptTimers(registry), trace);
      trace.received(ID, 9, 4);
      strand.execute(() -> attempts.start(assignment(0)));
      next();
    }
    List<String> lines = Files.readAllLines(file);
    assertEquals(3, lines.size());
    assertTrue(lines.get(0).matches("A run task 1 9 4 \\d+ \\d+"), lines.get(0));
    assertTrue(lines.get(1).matches("S run task 1 \\d+ \\d+"), lines.get(1));
    assertTrue(lines.get(2).matches("E run task 1 \\d+ \\d+"), lines.get(2));
  }

  @Test
  void shouldNameAFileThatCannotBeOpened() {
    assertThrows(IOException.class, () -> new TraceFile(Path.of("/none/trace")));
  }

  private int endless(int depth) {
    return depth > 0 ? endless(depth + 1) + 1 : 0;
  }

  private TaskResult run(TaskHandler handler) throws Exception {
    Attempts attempts = attempts(handler);
    strand.execute(() -> attempts.start(assignment(0)));
    return next();
  }

  private Attempts attempts(TaskHandler handler) {
    return attempts(Map.of("test", handler));
  }

  private Attempts attempts(Map<String, TaskHandler> handlers) {
    return new Attempts(handlers, strand, listener(), new AttemptTimers(registry), null);
  }

  private Attempts.Listener listener() {
    return new Attempts.Listener() {
      @Override
      public void finished(TaskResult result, boolean handlerReturned) {
        if (!handlerReturned) {
          overdue.add(AttemptId.of(result));
        }
        results.add(result);
      }

      @Override
      public void returned(AttemptId id) {
        returned.add(id);
      }

      @Override
      public void progress(TaskProgress word) {
        progress.add(word);
      }
    };
  }

  private TaskResult next() throws InterruptedException {
    TaskResult result = results.poll(10, TimeUnit.SECONDS);
    if (result == null) {
      throw new AssertionError("no result came");
    }
    return result;
  }

  private <T> T on(Callable<T> question) {
    CompletableFuture<T> answer = new CompletableFuture<>();
    strand.execute(() -> {
      try {
        answer.complete(question.call());
      } catch (Exception e) {
        answer.completeExceptionally(e);
      }
    });
    return answer.orTimeout(5, TimeUnit.SECONDS).join();
  }

  private static TaskAssignment assignment(long timeoutMs) {
    return TaskAssignment.newBuilder()
        .setWorkflowId(ID.runId())
        .setTaskId(ID.taskId())
        .setAttempt(ID.attempt())
        .setTaskType("test")
        .setTimeoutMs(timeoutMs)
        .setIdempotencyKey("run/task")
        .putParams("in", "{\"a\": 1}")
        .putParams("name", "\"Ada\"")
        .putParams("point", "{\"x\": 4, \"y\": 5}")
        .build();
  }

  /** A strand whose timers fire when the test says so. */
  private static final class SteppedStrand implements Strand {
    private final Strand strand;
    private @Nullable Runnable scheduled;

    SteppedStrand(Strand strand) {
      this.strand = strand;
    }

    void fire() {
      if (scheduled != null) {
        scheduled.run();
      }
    }

    @Override
    public void execute(Runnable task) {
      strand.execute(task);
    }

    @Override
    public long nanoTime() {
      return strand.nanoTime();
    }

    @Override
    public long wallMillis() {
      return strand.wallMillis();
    }

    @Override
    public Strand.Timer schedule(Duration delay, Runnable task) {
      assertEquals(Duration.ofSeconds(10), delay);
      scheduled = task;
      return () -> scheduled = null;
    }
  }
}
