package dev.baton.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.time.Instant;
import org.junit.jupiter.api.Test;

class TimesTest {
  @Test
  void shouldSayDurationsAsPeopleDo() {
    assertEquals("0 ms", Times.duration(-5));
    assertEquals("999 ms", Times.duration(999));
    assertEquals("1.0 s", Times.duration(1000));
    assertEquals("9.9 s", Times.duration(9999));
    assertEquals("59 s", Times.duration(59_999));
    assertEquals("1 min", Times.duration(60_000));
    assertEquals("59 min 59 s", Times.duration(3_599_999));
    assertEquals("1 h 30 min", Times.duration(5_400_000));
    assertEquals("2 d 1 h", Times.duration(49 * 3_600_000L));
  }

  @Test
  void shouldSayHowLongAgoSomethingWas() {
    Instant now = Instant.ofEpochMilli(100_000);
    assertEquals("now", Times.ago(200_000, now));
    assertEquals("3 s ago", Times.ago(96_500, now));
    assertEquals("1 min 40 s ago", Times.ago(0, now));
  }
}
