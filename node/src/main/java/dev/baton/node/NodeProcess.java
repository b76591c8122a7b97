package dev.baton.node;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One process life: read the settings, start part after part, wait until somebody asks it to end,
 * close the parts in reverse order within a bound, and exit with a documented code.
 *
 * <p>SIGTERM and SIGINT end it with 0, since it did as asked. An {@link ExitException} while
 * starting becomes one sentence on stderr. An exception that no thread caught is logged; one after
 * which the JVM can't be trusted ends the process.
 */
public final class NodeProcess {
  private static final Logger log = LoggerFactory.getLogger(NodeProcess.class);
  private static final Duration CLOSE_WITHIN = Duration.ofSeconds(30);
  private static final Duration CLOSE_MARGIN = Duration.ofSeconds(2);

  private final String name;
  private final Deque<Part> parts = new ArrayDeque<>();
  private final CompletableFuture<Ending> stop = new CompletableFuture<>();
  private final CountDownLatch closed = new CountDownLatch(1);
  private volatile Duration closeWithin = CLOSE_WITHIN;
  private volatile ExitCode code = ExitCode.OK;
  private volatile boolean started;
  private volatile String closingPart = "";

  private NodeProcess(String name) {
    this.name = name;
  }

  /** Starts the parts of a node, on the main thread, and returns once they run. */
  @FunctionalInterface
  public interface Wiring<T extends Record> {
    void start(T settings, NodeProcess process) throws Exception;
  }

  private record Part(String name, AutoCloseable closing) {}

  private record Ending(ExitCode code, @Nullable String sentence) {}

  /**
   * Runs a node until its end and exits; the whole of a {@code main}.
   *
   * @param name as the user calls it: {@code scheduler}
   */
  public static <T extends Record> void main(
      String name, Class<T> settings, String[] args, Wiring<T> wiring) {
    NodeProcess process = new NodeProcess(name);
    ExitCode code = process.run(new NodeCommand<>(name, settings), args, wiring);
    System.exit(code.number());
  }

  /** Registers a part that was started; it is closed before those that were started earlier. */
  public <C extends AutoCloseable> C closeLater(String part, C closing) {
    synchronized (parts) {
      parts.push(new Part(part, closing));
    }
    return closing;
  }

  /** How long all parts together may take to close, after which the process ends anyway. */
  public void closeWithin(Duration bound) {
    closeWithin = bound;
  }

  /** Asks the process to end with this code, and tells the user why; from any thread. */
  public void stop(ExitCode wanted, String sentence) {
    stop.complete(new Ending(wanted, sentence));
  }

  private <T extends Record> ExitCode run(NodeCommand<T> command, String[] args, Wiring<T> wiring) {
    Thread.setDefaultUncaughtExceptionHandler(this::uncaught);
    Thread main = Thread.currentThread();
    Runtime.getRuntime().addShutdownHook(new Thread(() -> endBySignal(main), "signal"));
    try {
      Optional<T> settings = command.read(args, System.getenv(), System.out);
      if (settings.isPresent()) {
        wiring.start(settings.get(), this);
        started = true;
        end(stop.get());
      }
    } catch (Throwable e) { // whatever it is: the parts that were started are closed
      end(endingOfFailedStart(e));
    }
    stop.complete(new Ending(code, null));
    close();
    closed.countDown();
    return code;
  }

  private Ending endingOfFailedStart(Throwable failure) {
    if (stop.isDone()) {
      return stop.join(); // asked to end while it started: what failed, failed because of that
    }
    if (failure instanceof ExitException exit) {
      return new Ending(exit.code(), exit.sentence());
    }
    log.error("a fault of Baton ended the process", failure);
    return new Ending(ExitCode.INTERNAL, "a fault of Baton: " + failure);
  }

  private void end(Ending ending) {
    code = ending.code();
    if (ending.sentence() != null) {
      complain(ending.sentence());
    }
  }

  /**
   * Runs in the JVM's shutdown, which waits for it; halting is the only way to choose a code then.
   */
  private void endBySignal(Thread main) {
    if (stop.complete(new Ending(ExitCode.OK, null))) {
      log.info("asked to end");
      if (!started) {
        main.interrupt();
      }
    }
    try {
      if (!closed.await(closeWithin.plus(CLOSE_MARGIN).toNanos(), TimeUnit.NANOSECONDS)) {
        code = ExitCode.INTERNAL;
      }
    } catch (InterruptedException e) {
      code = ExitCode.INTERNAL;
    }
    Runtime.getRuntime().halt(code.number());
  }

  /** Closes on a thread of its own, so that a part that hangs can be left behind. */
  private void close() {
    Thread closing = Thread.ofPlatform().daemon().name("closing").start(this::closeParts);
    if (!joined(closing)) {
      code = ExitCode.INTERNAL;
      complain(
          "%s did not close within %s: ended without it"
              .formatted(closingPart, Scalars.format(closeWithin)));
    }
  }

  private boolean joined(Thread closing) {
    long deadlineNanos = System.nanoTime() + closeWithin.toNanos();
    while (true) {
      try {
        return closing.join(Duration.ofNanos(Math.max(0, deadlineNanos - System.nanoTime())));
      } catch (InterruptedException e) {
        log.debug("asked again to end, which is under way");
      }
    }
  }

  private void closeParts() {
    for (Part part = next(); part != null; part = next()) {
      closingPart = part.name();
      try {
        part.closing().close();
      } catch (Exception e) {
        log.warn("{} did not close cleanly", part.name(), e);
      }
    }
  }

  private @Nullable Part next() {
    synchronized (parts) {
      return parts.poll();
    }
  }

  private void uncaught(Thread thread, Throwable failure) {
    log.error("an exception ended the thread {}", thread.getName(), failure);
    boolean fatal = failure instanceof VirtualMachineError || failure instanceof LinkageError;
    if (fatal && !(failure instanceof StackOverflowError)) {
      stop(ExitCode.INTERNAL, "the JVM can't go on: " + failure);
    }
  }

  private void complain(String sentence) {
    System.err.println("baton " + name + ": " + sentence);
  }
}
