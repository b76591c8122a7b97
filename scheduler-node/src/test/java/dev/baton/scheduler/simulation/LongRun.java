package dev.baton.scheduler.simulation;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.baton.scheduler.simulation.Coverage.Sight;
import dev.baton.workflow.Resolver;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/**
 * Very many seeds, on all processors, with a result file that is written again and again and from
 * which an interrupted run goes on. Not a test: {@code ./baton test --simulate N} starts it.
 *
 * <p>Arguments: the first seed, how many, the result file, the commit that is tried out.
 */
public final class LongRun {
  private static final int SEEDS_AT_ONCE = 64;
  private static final int FAILURES_KEPT = 100;
  private static final ObjectMapper JSON = new ObjectMapper();

  private final long first;
  private final long count;
  private final Path file;
  private final String commit;
  private final Resolver resolver = new Resolver();
  private final Coverage coverage = new Coverage();
  private final List<Seeds.Failure> failures = new ArrayList<>();
  private long done;
  private long failed;
  private long events;

  private LongRun(long first, long count, Path file, String commit) {
    this.first = first;
    this.count = count;
    this.file = file;
    this.commit = commit;
  }

  public static void main(String[] args) throws Exception {
    if (args.length != 4) {
      System.err.println("Expected: FIRST-SEED COUNT RESULT-FILE COMMIT");
      System.exit(2);
    }
    Seeds.silenceLogs(true);
    LongRun run =
        new LongRun(Long.parseLong(args[0]), Long.parseLong(args[1]), Path.of(args[2]), args[3]);
    run.goOn();
    run.run();
    System.exit(run.failed == 0 ? 0 : 1);
  }

  /** Takes what an earlier run of the same seeds and the same commit has left. */
  private void goOn() throws IOException {
    if (!Files.exists(file)) {
      return;
    }
    JsonNode before = JSON.readTree(file.toFile());
    if (!before.path("commit").asText().equals(commit) || before.path("first").asLong() != first) {
      throw new IOException(
          file + " holds other seeds, or another commit: give another file, or delete it");
    }
    done = before.path("done").asLong();
    failed = before.path("failed").asLong();
    events = before.path("events").asLong();
    for (JsonNode failure : before.path("failures")) {
      String invariant = failure.path("invariant").asText();
      failures.add(
          new Seeds.Failure(
              failure.path("seed").asLong(),
              invariant.isEmpty() ? null : Invariant.valueOf(invariant),
              failure.path("what").asText(),
              List.of()));
    }
    for (Sight sight : Sight.values()) {
      coverage.see(sight, before.path("coverage").path(name(sight)).asLong());
    }
    System.out.printf("%s: %d seeds are done already%n", file, done);
  }

  private void run() throws IOException, InterruptedException {
    int processors = Runtime.getRuntime().availableProcessors();
    ExecutorService pool = Executors.newFixedThreadPool(processors);
    long began = System.nanoTime();
    long doneBefore = done;
    try {
      while (done < count) {
        List<Callable<Seeds>> batch = new ArrayList<>();
        for (long i = 0; i < SEEDS_AT_ONCE && done + i < count; i++) {
          long seed = first + done + i;
          batch.add(() -> one(seed));
        }
        for (Future<Seeds> ended : pool.invokeAll(batch)) {
          take(ended);
        }
        done += batch.size();
        write();
        double seconds = (System.nanoTime() - began) / 1e9;
        System.out.printf(
            "%d of %d seeds, %d failed, %.1f seeds a second%n",
            done, count, failed, (done - doneBefore) / seconds);
      }
    } finally {
      pool.shutdownNow();
    }
  }

  private Seeds one(long seed) {
    Seeds seeds = new Seeds(resolver);
    seeds.run(seed, false);
    return seeds;
  }

  private void take(Future<Seeds> ended) throws InterruptedException {
    try {
      Seeds seeds = ended.get();
      coverage.add(seeds.coverage());
      events += seeds.events();
      for (Seeds.Failure failure : seeds.failures()) {
        failed++;
        if (failures.size() < FAILURES_KEPT) {
          failures.add(failure);
        }
        System.out.println(failure.report());
      }
    } catch (ExecutionException e) {
      throw new IllegalStateException(e);
    }
  }

  private void write() throws IOException {
    ObjectNode result = JSON.createObjectNode();
    result.put("commit", commit);
    result.put("first", first);
    result.put("count", count);
    result.put("done", done);
    result.put("failed", failed);
    result.put("events", events);
    ArrayNode list = result.putArray("failures");
    for (Seeds.Failure failure : failures) {
      list.addObject()
          .put("seed", failure.seed())
          .put("invariant", failure.invariant() == null ? "" : failure.invariant().name())
          .put("what", failure.what());
    }
    ObjectNode seen = result.putObject("coverage");
    for (Sight sight : Sight.values()) {
      seen.put(name(sight), coverage.count(sight));
    }
    Path fresh = file.resolveSibling(file.getFileName() + ".new");
    JSON.writerWithDefaultPrettyPrinter().writeValue(fresh.toFile(), result);
    Files.move(fresh, file, StandardCopyOption.REPLACE_EXISTING, StandardCopyOption.ATOMIC_MOVE);
  }

  private static String name(Sight sight) {
    return sight.name().toLowerCase(Locale.ROOT);
  }
}
