package dev.baton.worker.builtin;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import dev.baton.worker.FatalTaskException;
import dev.baton.worker.TaskFailedException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(60)
class ShellHandlerTest {
  private final ShellHandler handler = new ShellHandler();

  /** Stands in every process of a test's command, so that those left over are found. */
  private final String mark = "baton-test-" + UUID.randomUUID();

  @TempDir Path directory;

  @Test
  void shouldReturnWhatACommandSays() throws Exception {
    JsonNode output = run("command", "echo out; echo err >&2; cat");
    assertEquals(
        "{\"exitCode\":0,\"stdout\":\"out\\n\",\"stderr\":\"err\\n\",\"truncated\":false,"
            + "\"result\":null}",
        output.toString());
  }

  @Test
  void shouldRunAProgramWithArgumentsAsTheyAre() throws Exception {
    JsonNode output =
        run("command", "printf", "args", List.of("%s|", "a b", "$HOME", "; exit 1", 7, true));
    assertEquals("a b|$HOME|; exit 1|7|true|", output.get("stdout").textValue());
  }

  @Test
  void shouldGiveOnlyTheEnvironmentThatIsMeantForIt() throws Exception {
    JsonNode output = run("command", "env | sort", "env", Map.of("GREETING", "hi there", "N", 3));
    List<String> names =
        output
            .get("stdout")
            .textValue()
            .lines()
            .map(line -> line.substring(0, line.indexOf('=')))
            .toList();
    assertTrue(output.get("stdout").textValue().contains("GREETING=hi there\n"));
    assertTrue(output.get("stdout").textValue().contains("BATON_RUN=01J00000000000000000000RUN\n"));
    assertTrue(output.get("stdout").textValue().contains("BATON_ATTEMPT=2\n"));
    assertTrue(output.get("stdout").textValue().contains("BATON_TASK=task\n"));
    assertTrue(
        output
            .get("stdout")
            .textValue()
            .contains("BATON_IDEMPOTENCY_KEY=01J00000000000000000000RUN/task\n"));
    List<String> allowed =
        List.of(
            "PATH", "HOME", "LANG", "TZ", "TMPDIR", "GREETING", "N", "PWD", "_", "OLDPWD", "SHLVL");
    assertEquals(
        List.of(),
        names.stream()
            .filter(name -> !name.startsWith("BATON_") && !allowed.contains(name))
            .toList());
  }

  @Test
  void shouldRunInItsDirectory() throws Exception {
    JsonNode output = run("command", "pwd", "cwd", directory.toString());
    assertEquals(directory.toRealPath() + "\n", output.get("stdout").textValue());
  }

  @Test
  void shouldReturnTheJsonThatACommandLeaves() throws Exception {
    JsonNode output = run("command", "echo '{\"a\": [1, 2]}' > \"$BATON_OUTPUT\"");
    assertEquals("{\"a\":[1,2]}", output.get("result").toString());
  }

  @Test
  void shouldFailWhenWhatACommandLeavesIsNotJson() {
    assertTrue(
        failure("command", "echo '{a' > $BATON_OUTPUT").contains("$BATON_OUTPUT is not JSON"));
    assertTrue(failure("command", "echo '1 2' > $BATON_OUTPUT").contains("is not JSON"));
    assertTrue(
        failure("command", "head -c 300000 /dev/zero | tr '\\0' 1 > $BATON_OUTPUT")
            .contains("more than 262144 bytes"));
  }

  @Test
  void shouldKeepALargeResultAndCutTheStreamsBesideIt() throws Exception {
    JsonNode output =
        run(
            "command",
            "head -c 100000 /dev/zero | tr '\\0' o; "
                + "(printf '\"'; head -c 250000 /dev/zero | tr '\\0' r; printf '\"') > $BATON_OUTPUT");
    assertEquals(250_000, output.get("result").textValue().length());
    assertTrue(output.get("truncated").booleanValue());
    assertTrue(FakeContext.JSON.writeValueAsBytes(output).length <= 256 << 10);
  }

  @Test
  void shouldSayExitCodeAndTailOfStderr() {
    assertEquals(
        "The command ended with exit code 3; stderr ends:\nno such door",
        failure("command", "echo no such door >&2; exit 3"));
    assertEquals(
        "The command ended by signal 9 (exit code 137) and an empty stderr.",
        failure("command", "kill -9 $$"));
    assertTrue(failure("command", "/none/at-all", "args", List.of()).contains("exit code 127"));
    String large = failure("command", "head -c 100000 /dev/zero | tr '\\0' x >&2; exit 1");
    assertTrue(large.endsWith("x".repeat(2048)));
    assertTrue(large.length() < 4096);
  }

  @Test
  void shouldKeepTheFirstAndTheLastOfALargeStream() throws Exception {
    JsonNode output = run("command", "echo first; seq 1 100000; echo last");
    String stdout = output.get("stdout").textValue();
    assertTrue(stdout.startsWith("first\n1\n2\n"));
    assertTrue(stdout.endsWith("100000\nlast\n"));
    assertTrue(output.get("truncated").booleanValue());
    assertTrue(stdout.contains("[... cut: the stream had 588906 bytes ...]"));
  }

  @Test
  void shouldRefuseWrongInputs() {
    assertThrows(FatalTaskException.class, () -> run("command", " "));
    assertThrows(FatalTaskException.class, () -> run("command", "a", "args", "b"));
    assertThrows(FatalTaskException.class, () -> run("command", "a", "args", List.of(Map.of())));
    assertThrows(FatalTaskException.class, () -> run("command", "a", "env", Map.of("A-B", "x")));
    assertThrows(FatalTaskException.class, () -> run("command", "a", "env", Map.of("BATON_X", "")));
    assertThrows(FatalTaskException.class, () -> run("command", "x".repeat(200_000)));
    assertTrue(failure("command", "true", "cwd", "/none").contains("no directory"));
  }

  @Test
  void shouldLeaveNothingBehindWhenTheCommandEnds() throws Exception {
    JsonNode output =
        run("command", "(sleep 600 &); trap '' TERM; sleep 600 & echo started", "env", marked());
    assertEquals("started\n", output.get("stdout").textValue());
    awaitNoneLeft();
  }

  @Test
  void shouldEndThoughAProcessThatGotAwayHoldsTheStreamsOpen() throws Exception {
    Path pid = directory.resolve("pid");
    JsonNode output =
        run(
            "command",
            "setsid sh -c 'echo $$ > "
                + pid
                + "; exec sleep 600' & "
                + "while [ ! -s "
                + pid
                + " ]; do :; done; echo done");
    assertEquals("done\n", output.get("stdout").textValue());
    ProcessHandle.of(Long.parseLong(Files.readString(pid).strip()))
        .ifPresent(ProcessHandle::destroyForcibly);
  }

  @Test
  void shouldKillAllOfItOnCancel() throws Exception {
    FakeContext context = FakeContext.with("command", "(sleep 600 &); sleep 600", "env", marked());
    CompletableFuture<Object> end = start(context);
    awaitProcesses(3);
    context.cancel();
    assertTrue(failureOf(end).contains("signal 15"));
    awaitNoneLeft();
  }

  @Test
  void shouldGiveTheGraceToWhatWantsIt() throws Exception {
    FakeContext context =
        FakeContext.with(
            "command",
            "sh -c 'trap \"sleep 1; echo ended well; exit 0\" TERM; echo up; while :; do sleep 0.1; done'; :",
            "env",
            marked());
    CompletableFuture<Object> end = start(context);
    awaitProcesses(3);
    context.cancel();
    assertThrows(Exception.class, () -> end.get(20, TimeUnit.SECONDS));
    awaitNoneLeft();
  }

  @Test
  void shouldKillWhatIgnoresTermAfterTheGrace() throws Exception {
    FakeContext context =
        FakeContext.with(
            "command",
            "trap '' TERM; (trap '' TERM; sleep 600; sleep 600) & sleep 600; sleep 600",
            "env",
            marked());
    CompletableFuture<Object> end = start(context);
    awaitProcesses(4);
    long start = System.nanoTime();
    context.cancel();
    assertTrue(failureOf(end).contains("signal 9"));
    long seconds = TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - start);
    assertTrue(seconds >= 5 && seconds < 9, "seconds: " + seconds);
    awaitNoneLeft();
  }

  @Test
  void shouldNotOutliveAWorkerThatIsKilled() throws Exception {
    Path where = directory.resolve("where");
    Path java = Path.of(System.getProperty("java.home"), "bin", "java");
    Process worker =
        new ProcessBuilder(
                java.toString(),
                "-cp",
                System.getProperty("java.class.path"),
                LoneShell.class.getName(),
                mark,
                where.toString())
            .redirectErrorStream(true)
            .redirectOutput(directory.resolve("worker.log").toFile())
            .start();
    awaitProcesses(5);
    worker.destroyForcibly().waitFor();
    awaitNoneLeft();
    Path resultFile = Path.of(Files.readString(where).strip());
    assertTrue(resultFile.getFileName().toString().startsWith("baton-output-"));
    await().atMost(Duration.ofSeconds(5)).until(() -> !Files.exists(resultFile));
  }

  private Map<String, String> marked() {
    return Map.of("MARK", mark);
  }

  private JsonNode run(Object... inputs) throws Exception {
    return FakeContext.JSON.valueToTree(handler.handle(FakeContext.with(inputs)));
  }

  private String failure(Object... inputs) {
    return String.valueOf(assertThrows(TaskFailedException.class, () -> run(inputs)).getMessage());
  }

  private CompletableFuture<Object> start(FakeContext context) {
    CompletableFuture<Object> end = new CompletableFuture<>();
    Thread.ofVirtual()
        .start(() -> {
          try {
            end.complete(handler.handle(context));
          } catch (Throwable e) {
            end.completeExceptionally(e);
          }
        });
    return end;
  }

  private static String failureOf(CompletableFuture<Object> end) {
    Throwable thrown =
        assertThrows(Exception.class, () -> end.get(20, TimeUnit.SECONDS)).getCause();
    return String.valueOf(thrown);
  }

  private void awaitProcesses(int count) {
    await().atMost(Duration.ofSeconds(20)).until(() -> Processes.marked(mark) >= count);
  }

  private void awaitNoneLeft() {
    await()
        .atMost(Duration.ofSeconds(5))
        .pollInterval(Duration.ofMillis(20))
        .until(() -> Processes.marked(mark) == 0);
  }

  /** Processes by their environment. */
  private static final class Processes {
    /** Those that live and carry the mark. */
    static long marked(String mark) throws IOException {
      try (var all = Files.list(Path.of("/proc"))) {
        return all.filter(entry -> entry.getFileName().toString().matches("\\d+"))
            .filter(entry -> read(entry.resolve("environ")).contains("MARK=" + mark))
            .filter(entry -> !read(entry.resolve("stat")).matches("(?s).*\\) [ZX] .*"))
            .count();
      }
    }

    private static String read(Path file) {
      try {
        return Files.readString(file, StandardCharsets.ISO_8859_1);
      } catch (IOException e) {
        return "";
      }
    }
  }
}
