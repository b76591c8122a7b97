package dev.baton.worker.builtin;

import com.fasterxml.jackson.databind.JsonNode;
import dev.baton.worker.FatalTaskException;
import dev.baton.worker.TaskContext;
import dev.baton.worker.TaskHandler;
import java.math.BigDecimal;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Waits: for {@code ms} milliseconds, or for a {@code duration} such as {@code 250ms}, {@code
 * 1.5s}, {@code 2m} or {@code 1h}. Its output is {@code {"sleptMs": 250}}.
 */
final class SleepHandler implements TaskHandler {
  private static final Pattern DURATION = Pattern.compile("(\\d{1,9}(?:\\.\\d{1,9})?)(ms|s|m|h)");

  @Override
  public Object handle(TaskContext context) throws InterruptedException {
    long nanos = nanos(context);
    // Ends by an interrupt, or when the time is over: nobody counts down.
    boolean ignored = new CountDownLatch(1).await(nanos, TimeUnit.NANOSECONDS);
    return Map.of("sleptMs", TimeUnit.NANOSECONDS.toMillis(nanos));
  }

  private static long nanos(TaskContext context) {
    Optional<JsonNode> ms = context.find("ms");
    Optional<JsonNode> duration = context.find("duration");
    if (ms.isPresent() == duration.isPresent()) {
      throw new FatalTaskException(
          "Expected either the input 'ms' or 'duration', but the task has "
              + (ms.isPresent() ? "both." : "neither."));
    }
    if (ms.isPresent()) {
      JsonNode node = ms.get();
      if (!node.isIntegralNumber() || !node.canConvertToLong() || node.longValue() < 0) {
        throw new FatalTaskException(
            "Expected 'ms' to be a whole number of milliseconds, 0 or more, but got " + node + ".");
      }
      return TimeUnit.MILLISECONDS.toNanos(node.longValue());
    }
    Matcher matcher = DURATION.matcher(duration.orElseThrow().asText());
    if (!matcher.matches()) {
      throw new FatalTaskException(
          "Expected 'duration' to be a number and a unit (ms, s, m, h), such as 1.5s, but got "
              + duration.get()
              + ".");
    }
    BigDecimal unit =
        BigDecimal.valueOf(
            switch (matcher.group(2)) {
              case "ms" -> 1_000_000L;
              case "s" -> 1_000_000_000L;
              case "m" -> 60_000_000_000L;
              default -> 3_600_000_000_000L;
            });
    return new BigDecimal(matcher.group(1))
        .multiply(unit)
        .min(BigDecimal.valueOf(Long.MAX_VALUE))
        .longValue();
  }
}
