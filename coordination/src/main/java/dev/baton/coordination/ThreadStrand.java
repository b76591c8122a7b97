package dev.baton.coordination;

import java.time.Duration;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A strand on a thread of its own.
 *
 * <p>A task that throws does not end the strand: what it threw goes to the fault handler, on the
 * strand. Tasks that come after {@link #close} are dropped.
 */
public final class ThreadStrand implements Strand, AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(ThreadStrand.class);
  private static final Duration CLOSE_BOUND = Duration.ofSeconds(5);

  private final ScheduledThreadPoolExecutor executor;
  private final Consumer<Throwable> onFault;
  private volatile @Nullable Thread thread;

  /** A strand on a daemon thread that logs what its tasks throw. */
  public ThreadStrand(String name) {
    this(name, true, fault -> LOG.error("A task of the strand {} failed", name, fault));
  }

  public ThreadStrand(String name, boolean daemon, Consumer<Throwable> onFault) {
    this.onFault = onFault;
    this.executor =
        new ScheduledThreadPoolExecutor(
            1,
            task -> {
              Thread created = new Thread(task, name);
              created.setDaemon(daemon);
              thread = created;
              return created;
            },
            new ThreadPoolExecutor.DiscardPolicy());
    executor.setRemoveOnCancelPolicy(true);
    executor.setExecuteExistingDelayedTasksAfterShutdownPolicy(false);
  }

  @Override
  public void execute(Runnable task) {
    executor.execute(() -> run(task));
  }

  @Override
  public long nanoTime() {
    return System.nanoTime();
  }

  @Override
  public long wallMillis() {
    return System.currentTimeMillis();
  }

  @Override
  public Timer schedule(Duration delay, Runnable task) {
    ScheduledFuture<?> scheduled =
        executor.schedule(() -> run(task), Math.max(0, delay.toNanos()), TimeUnit.NANOSECONDS);
    return () -> scheduled.cancel(false);
  }

  /** Ends the strand: waiting tasks are dropped, the running one has five seconds to end. */
  @Override
  public void close() {
    close(CLOSE_BOUND);
  }

  /** Ends the strand; true if the running task ended within the bound. */
  public boolean close(Duration bound) {
    executor.shutdown();
    if (Thread.currentThread() == thread) {
      return true;
    }
    try {
      return executor.awaitTermination(bound.toNanos(), TimeUnit.NANOSECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return false;
    }
  }

  private void run(Runnable task) {
    try {
      task.run();
    } catch (Throwable fault) {
      onFault.accept(fault);
    }
  }
}
