package dev.baton.cli.program;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.time.Duration;
import org.junit.jupiter.api.Test;
import picocli.CommandLine.TypeConversionException;

class ProgramTest {
  @Test
  void shouldReadDurations() {
    assertEquals(Duration.ofMillis(500), Program.duration("500ms"));
    assertEquals(Duration.ofMinutes(5), Program.duration("5m"));
    assertEquals(Duration.ofDays(7), Program.duration(" 7d "));
    for (String wrong : new String[] {"5 m", "-5s", "5", ""}) {
      assertThrows(TypeConversionException.class, () -> Program.duration(wrong), wrong);
    }
  }
}
