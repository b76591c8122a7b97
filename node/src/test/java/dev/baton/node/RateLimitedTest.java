package dev.baton.node;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class RateLimitedTest {
  private final AtomicLong nanoTime = new AtomicLong(Long.MAX_VALUE - 5);
  private final RateLimited limited = new RateLimited(Duration.ofSeconds(10), nanoTime::get);
  private final List<String> lines = new ArrayList<>();

  @Test
  void shouldLogOncePerIntervalAndCountTheRest() {
    log("etcd");
    log("etcd");
    log("other");
    nanoTime.addAndGet(Duration.ofMillis(9_999).toNanos());
    log("etcd");
    nanoTime.addAndGet(Duration.ofMillis(1).toNanos());
    log("etcd");
    nanoTime.addAndGet(Duration.ofSeconds(10).toNanos());
    log("etcd");

    assertEquals(List.of("etcd 0", "other 0", "etcd 2", "etcd 0"), lines);
  }

  @Test
  void shouldForgetKeysThatWereNotUsedForLongest() {
    log("first");
    for (int i = 0; i < 1_000; i++) {
      log("key " + i);
    }
    lines.clear();
    log("key 999");
    log("first");

    assertEquals(List.of("first 0"), lines);
  }

  private void log(String key) {
    limited.run(key, suppressed -> lines.add(key + " " + suppressed));
  }
}
