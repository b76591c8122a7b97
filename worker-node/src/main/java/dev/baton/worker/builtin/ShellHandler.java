package dev.baton.worker.builtin;

import com.fasterxml.jackson.core.JacksonException;
import com.fasterxml.jackson.core.json.JsonWriteFeature;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.baton.worker.TaskContext;
import dev.baton.worker.TaskFailedException;
import dev.baton.worker.TaskHandler;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Runs a command of this machine. Inputs: {@code command}, run by {@code sh -c}, or with {@code
 * args} (a list) a program that is run as it is; {@code env}, a map; {@code cwd}.
 *
 * <p>The command has a session and a process group of its own, an empty standard input, and an
 * environment that holds nothing of the worker's but {@code PATH}, {@code HOME}, {@code LANG},
 * {@code TZ} and {@code TMPDIR}. {@code BATON_RUN}, {@code BATON_TASK}, {@code BATON_ATTEMPT} and
 * {@code BATON_IDEMPOTENCY_KEY} name the attempt. JSON that it writes to the file {@code
 * $BATON_OUTPUT} becomes {@code result} in the output {@code {exitCode, stdout, stderr, truncated,
 * result}}.
 *
 * <p>No process of it lives on: they are killed when the command ends, when the worker dies, and,
 * five seconds after a TERM, on cancel and timeout. Only a process that starts a session of its own
 * gets away.
 */
public final class ShellHandler implements TaskHandler {
  private static final List<String> INHERITED = List.of("PATH", "HOME", "LANG", "TZ", "TMPDIR");
  private static final int HEAD_BYTES = 8 << 10;
  private static final int TAIL_BYTES = 56 << 10;
  private static final int MAX_RESULT_BYTES = 256 << 10;

  /** Of an output, minus what its names and the notes about cuts take. */
  private static final int MAX_OUTPUT_BYTES = (256 << 10) - 512;

  private static final int ERROR_TAIL_BYTES = 2 << 10;
  private static final ObjectMapper JSON =
      JsonMapper.builder()
          .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
          .enable(JsonWriteFeature.COMBINE_UNICODE_SURROGATES_IN_UTF8)
          .build();

  private final String supervisor;
  private final Path shell;
  private final Path setsid;

  /**
   * @throws IllegalStateException if this machine lacks what the handler needs
   */
  public ShellHandler() {
    shell = find("sh");
    setsid = find("setsid");
    try (InputStream in = ShellHandler.class.getResourceAsStream("supervisor.sh")) {
      if (in == null) {
        throw new IllegalStateException("Expected supervisor.sh beside its class.");
      }
      supervisor = new String(in.readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new IllegalStateException("supervisor.sh cannot be read", e);
    }
  }

  private record Output(
      int exitCode, String stdout, String stderr, boolean truncated, @Nullable JsonNode result) {}

  @Override
  public Object handle(TaskContext context) throws Exception {
    ShellCommand command = ShellCommand.of(context);
    Path resultFile = Files.createTempFile("baton-output-", ".json");
    try {
      SupervisedProcess process =
          SupervisedProcess.start(
              builder(context, command, resultFile), HEAD_BYTES, TAIL_BYTES, context.taskId());
      context.onCancel(process::terminate);
      int exitCode = process.await();
      if (exitCode != 0) {
        throw new TaskFailedException(failure(exitCode, process.stderr()));
      }
      return output(exitCode, process, result(resultFile));
    } finally {
      Files.deleteIfExists(resultFile);
    }
  }

  private SupervisedProcess.Command builder(
      TaskContext context, ShellCommand command, Path resultFile) {
    ProcessBuilder builder = new ProcessBuilder();
    Map<String, String> environment = builder.environment();
    environment.keySet().retainAll(INHERITED);
    environment.putAll(command.environment());
    environment.put("BATON_RUN", context.runId());
    environment.put("BATON_TASK", context.taskId());
    environment.put("BATON_ATTEMPT", Integer.toString(context.attempt()));
    environment.put("BATON_IDEMPOTENCY_KEY", context.idempotencyKey());
    environment.put("BATON_OUTPUT", resultFile.toString());
    if (command.directory() != null) {
      builder.directory(command.directory().toFile());
    }
    return new SupervisedProcess.Command(builder, shell, setsid, supervisor, command.program());
  }

  private static String failure(int exitCode, OutputCapture stderr) {
    String how =
        exitCode > 128 && exitCode <= 128 + 64
            ? "The command ended by signal " + (exitCode - 128) + " (exit code " + exitCode + ")"
            : "The command ended with exit code " + exitCode;
    String tail = stderr.text(0, ERROR_TAIL_BYTES).text().strip();
    return tail.isEmpty() ? how + " and an empty stderr." : how + "; stderr ends:\n" + tail;
  }

  private static Output output(int exitCode, SupervisedProcess process, @Nullable JsonNode result)
      throws IOException {
    int resultBytes = result == null ? 0 : JSON.writeValueAsBytes(result).length;
    int room = Math.max(0, (MAX_OUTPUT_BYTES - resultBytes) / 2);
    int head = Math.min(HEAD_BYTES, room / 8);
    int tail = Math.min(TAIL_BYTES, room - room / 8);
    OutputCapture.Text stdout = process.stdout().text(head, tail);
    OutputCapture.Text stderr = process.stderr().text(head, tail);
    return new Output(exitCode, stdout.text(), stderr.text(), stdout.cut() || stderr.cut(), result);
  }

  private static @Nullable JsonNode result(Path file) throws TaskFailedException {
    byte[] bytes;
    try (InputStream in = Files.newInputStream(file)) {
      bytes = in.readNBytes(MAX_RESULT_BYTES + 1);
    } catch (IOException e) {
      throw new TaskFailedException(
          "What the command left in $BATON_OUTPUT cannot be read: " + e, e);
    }
    if (bytes.length > MAX_RESULT_BYTES) {
      throw new TaskFailedException(
          "The command wrote more than "
              + MAX_RESULT_BYTES
              + " bytes (256 KiB) to $BATON_OUTPUT. Store it elsewhere and write where it is.");
    }
    if (bytes.length == 0) {
      return null;
    }
    try {
      return JSON.readTree(bytes);
    } catch (JacksonException e) {
      throw new TaskFailedException(
          "What the command wrote to $BATON_OUTPUT is not JSON: " + e.getOriginalMessage(), e);
    } catch (IOException e) {
      throw new TaskFailedException("What the command wrote to $BATON_OUTPUT is not JSON: " + e, e);
    }
  }

  private static Path find(String tool) {
    String path = Optional.ofNullable(System.getenv("PATH")).orElse("");
    return Stream.concat(Stream.of(path.split(":")), Stream.of("/usr/bin", "/bin"))
        .filter(directory -> directory.startsWith("/"))
        .map(directory -> Path.of(directory, tool))
        .filter(Files::isExecutable)
        .findFirst()
        .orElseThrow(() ->
            new IllegalStateException(
                "The capability 'shell' needs the program '"
                    + tool
                    + "', but it is not on the PATH. Install util-linux, or leave the capability"
                    + " out."));
  }
}
