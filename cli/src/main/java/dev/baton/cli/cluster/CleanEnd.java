package dev.baton.cli.cluster;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;

/**
 * Gives work that Ctrl-C or SIGTERM interrupts the time to end the processes that it has started:
 * they outlive this program otherwise.
 */
public final class CleanEnd {
  private CleanEnd() {}

  /** What may be interrupted, and cleans up after itself if it is. */
  public interface Work<T, E extends Exception> {
    T run() throws E, InterruptedException;
  }

  /**
   * Runs work on the thread that calls.
   *
   * @param bound how long the program waits for the work's end once it is asked to end
   * @param progress told when that happens, since it may take a while
   * @throws InterruptedException the program is ending, whatever the work failed by
   */
  public static <T, E extends Exception> T run(
      Duration bound, Consumer<String> progress, Work<T, E> work) throws E, InterruptedException {
    Thread caller = Thread.currentThread();
    CountDownLatch clean = new CountDownLatch(1);
    AtomicBoolean ending = new AtomicBoolean();
    Thread guard =
        new Thread(
            () -> {
              ending.set(true);
              progress.accept("interrupted: what was started is being ended");
              caller.interrupt();
              try {
                boolean ignored = clean.await(bound.toSeconds(), TimeUnit.SECONDS);
              } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
              }
            },
            "clean-end");
    Runtime.getRuntime().addShutdownHook(guard);
    try {
      return work.run();
    } catch (RuntimeException e) {
      if (ending.get()) {
        InterruptedException interrupted = new InterruptedException("asked to end");
        interrupted.initCause(e);
        throw interrupted;
      }
      throw e;
    } finally {
      clean.countDown();
      unhook(guard);
    }
  }

  private static void unhook(Thread guard) {
    try {
      Runtime.getRuntime().removeShutdownHook(guard);
    } catch (IllegalStateException e) {
      // The program is ending: it is the guard that brought us here.
    }
  }
}
