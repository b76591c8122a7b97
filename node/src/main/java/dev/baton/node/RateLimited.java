package dev.baton.node;

import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.LongConsumer;
import java.util.function.LongSupplier;

/**
 * Keeps a failure that repeats from filling the log: once per key and interval, with the number of
 * those left out since. Safe for all threads; remembers the {@value #MAX_KEYS} keys used last.
 */
public final class RateLimited {
  private static final int MAX_KEYS = 1_000;

  private final long intervalNanos;
  private final LongSupplier nanoTime;
  private final Map<String, Window> windows =
      new LinkedHashMap<>(16, 0.75f, true) {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<String, Window> eldest) {
          return size() > MAX_KEYS;
        }
      };

  /** {@code nanoTime} is monotonic, as {@link System#nanoTime}. */
  public RateLimited(Duration interval, LongSupplier nanoTime) {
    this.intervalNanos = interval.toNanos();
    this.nanoTime = nanoTime;
  }

  /** Calls {@code log} with the number that was left out, unless it was called too lately. */
  public void run(String key, LongConsumer log) {
    long suppressed;
    synchronized (windows) {
      long now = nanoTime.getAsLong();
      Window window = windows.get(key);
      if (window != null && now - window.startNanos < intervalNanos) {
        window.suppressed++;
        return;
      }
      suppressed = window == null ? 0 : window.suppressed;
      windows.put(key, new Window(now));
    }
    log.accept(suppressed);
  }

  private static final class Window {
    private final long startNanos;
    private long suppressed;

    private Window(long startNanos) {
      this.startNanos = startNanos;
    }
  }
}
