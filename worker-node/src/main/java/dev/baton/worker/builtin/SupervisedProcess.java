package dev.baton.worker.builtin;

import dev.baton.worker.FatalTaskException;
import dev.baton.worker.TaskFailedException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.regex.Pattern;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A command and the supervisor that holds it. The pipe to the supervisor is its life: when this
 * process dies, the pipe ends and the supervisor kills the command.
 *
 * <p>The streams are read by two platform threads: a blocking read of a pipe would hold a carrier
 * of virtual threads.
 */
final class SupervisedProcess {
  private static final Logger log = LoggerFactory.getLogger(SupervisedProcess.class);
  private static final Pattern ARGUMENTS_TOO_LONG = Pattern.compile("error[=:] ?7\\b");
  private static final long GRACE_SECONDS = 5;

  /** The supervisor ends the streams before it exits; this is for one that was killed. */
  private static final long DRAIN_SECONDS = 2;

  private final Process process;
  private final OutputCapture stdout;
  private final OutputCapture stderr;
  private final CompletableFuture<Void> read;

  private SupervisedProcess(
      Process process, OutputCapture stdout, OutputCapture stderr, String name) {
    this.process = process;
    this.stdout = stdout;
    this.stderr = stderr;
    this.read =
        CompletableFuture.allOf(
            read(stdout, process.getInputStream(), name + " stdout"),
            read(stderr, process.getErrorStream(), name + " stderr"));
  }

  /**
   * @param builder with environment and directory
   * @param program what the supervisor is to run
   */
  record Command(
      ProcessBuilder builder, Path shell, Path setsid, String supervisor, List<String> program) {}

  static SupervisedProcess start(Command command, int headBytes, int tailBytes, String name)
      throws TaskFailedException {
    String marker = "[end " + UUID.randomUUID() + "]";
    List<String> line = new ArrayList<>();
    line.addAll(
        List.of(
            command.setsid().toString(),
            command.shell().toString(),
            "-c",
            command.supervisor(),
            "baton-supervisor",
            command.setsid().toString(),
            marker));
    line.addAll(command.program());
    Process process;
    try {
      process = command.builder().command(line).start();
    } catch (IOException e) {
      String cause = String.valueOf(e.getMessage());
      if (ARGUMENTS_TOO_LONG.matcher(cause).find()) {
        throw new FatalTaskException(
            "The command is too long for this machine: no argument and no variable may have more"
                + " than 128 KiB. Put it into a file.",
            e);
      }
      throw new TaskFailedException("The command cannot be started: " + cause, e);
    }
    return new SupervisedProcess(
        process,
        new OutputCapture(marker, headBytes, tailBytes),
        new OutputCapture(marker, headBytes, tailBytes),
        name);
  }

  OutputCapture stdout() {
    return stdout;
  }

  OutputCapture stderr() {
    return stderr;
  }

  /**
   * Waits for the end of the command and of all that it left behind; returns its exit code. An
   * interrupt does not end the wait: {@link #terminate} ends the command.
   */
  int await() throws TaskFailedException {
    try {
      uninterruptibly(process.onExit(), Long.MAX_VALUE);
      try {
        uninterruptibly(read, DRAIN_SECONDS);
      } catch (TimeoutException e) {
        throw new TaskFailedException(
            "The supervisor of the command was killed; processes of the command may be left.", e);
      }
    } catch (TimeoutException e) {
      throw new IllegalStateException(e);
    } finally {
      close(process.getOutputStream());
    }
    return process.exitValue();
  }

  /** TERM to all of the command's processes, and KILL to those that are left after the grace. */
  void terminate() {
    OutputStream pipe = process.getOutputStream();
    try {
      pipe.write('\n');
      pipe.flush();
      process.onExit().get(GRACE_SECONDS, TimeUnit.SECONDS);
    } catch (IOException e) {
      log.debug("The supervisor has ended already", e);
    } catch (ExecutionException e) {
      log.warn("Waiting for the supervisor failed", e);
    } catch (TimeoutException e) {
      log.debug("A command ignored TERM for {} s and is killed", GRACE_SECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } finally {
      close(pipe);
    }
  }

  private static CompletableFuture<Void> read(OutputCapture capture, InputStream in, String name) {
    CompletableFuture<Void> end = new CompletableFuture<>();
    Thread.ofPlatform()
        .daemon()
        .name("baton-shell " + name)
        .start(() -> {
          try (in) {
            capture.read(in);
          } catch (IOException e) {
            log.debug("A stream of a command broke", e);
          } finally {
            end.complete(null);
          }
        });
    return end;
  }

  private static void uninterruptibly(CompletableFuture<?> future, long seconds)
      throws TimeoutException {
    boolean interrupted = false;
    try {
      while (true) {
        try {
          future.get(seconds, TimeUnit.SECONDS);
          return;
        } catch (InterruptedException e) {
          interrupted = true;
        } catch (ExecutionException e) {
          throw new IllegalStateException(e);
        }
      }
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  private static void close(OutputStream pipe) {
    try {
      pipe.close();
    } catch (IOException e) {
      log.debug("The pipe to a supervisor was broken already", e);
    }
  }
}
