package dev.baton.cli;

import dev.baton.cli.program.Context;
import dev.baton.client.BatonClient;
import dev.baton.client.BatonException;
import dev.baton.client.RunWatch;
import dev.baton.node.ExitCode;
import dev.baton.node.ExitException;
import dev.baton.proto.v1.Run;
import dev.baton.proto.v1.RunState;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** Follows a run until it has ended; Ctrl-C ends the program and not the run. */
final class Follower {
  private final Context context;

  Follower(Context context) {
    this.context = context;
  }

  Run follow(BatonClient client, String runId, WatchView view) {
    Thread goodbye =
        new Thread(
            () -> {
              view.interrupt();
              context
                  .terminal()
                  .remark("Run " + runId + " goes on. Follow it with: baton watch " + runId);
            },
            "goodbye");
    Runtime.getRuntime().addShutdownHook(goodbye);
    try (RunWatch watch = client.watch(runId, view)) {
      Run run = await(watch, view);
      view.end(run);
      return run;
    } finally {
      forget(goodbye);
    }
  }

  private Run await(RunWatch watch, WatchView view) {
    while (true) {
      try {
        return watch.ended().get(1, TimeUnit.SECONDS);
      } catch (TimeoutException e) {
        view.tick();
        if (context.terminal().out().checkError()) {
          throw new ExitException(ExitCode.INTERRUPTED, "nobody reads the output any more", e);
        }
      } catch (ExecutionException e) {
        if (e.getCause() instanceof BatonException refused) {
          throw refused;
        }
        throw new IllegalStateException(e.getCause());
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw new ExitException(ExitCode.INTERRUPTED, "interrupted", e);
      }
    }
  }

  private static void forget(Thread goodbye) {
    try {
      Runtime.getRuntime().removeShutdownHook(goodbye);
    } catch (IllegalStateException e) {
      // The program is ending: the hook has run, or is about to.
    }
  }

  static ExitCode exitCode(Run run) {
    return run.getState() == RunState.RUN_SUCCESS ? ExitCode.OK : ExitCode.FAILED;
  }
}
