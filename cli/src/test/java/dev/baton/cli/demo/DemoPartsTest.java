package dev.baton.cli.demo;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.baton.proto.v1.TaskCounts;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class DemoPartsTest {
  @TempDir private Path directory = Path.of("");

  @Test
  void shouldCountWordsAsTheHandlerDocumentsThem() {
    assertEquals(
        Map.of("don't", 2L, "stop", 1L, "the", 1L, "dogs", 1L, "3rd", 1L, "été", 1L),
        ExpectedReport.count("Don't stop; DON'T 'the dogs' 3rd -- été'"));
    assertEquals(Map.of("a", 1L, "b", 1L), ExpectedReport.count("a''b"));
    assertEquals(Map.of(), ExpectedReport.count(" ' '' "));
  }

  @Test
  void shouldAddUpOnlyTheMostFrequentWordsOfEachText() throws IOException {
    Path one = Files.writeString(directory.resolve("one.txt"), "x x x y y z");
    Path two = Files.writeString(directory.resolve("two.txt"), "z z z w w x");

    assertEquals(
        "{\"words\":12,\"top\":[{\"word\":\"x\",\"count\":3},{\"word\":\"z\",\"count\":3}]}",
        ExpectedReport.of(List.of(one, two), 2).toString());
  }

  @Test
  void shouldWaitForWorkDoneUnderWayAndToCome() {
    TaskCounts moment =
        TaskCounts.newBuilder().setSuccess(1).setRunning(2).setPending(4).setReady(1).build();
    assertTrue(Moment.isNow(moment));
    assertFalse(Moment.isNow(moment.toBuilder().setSuccess(0).build()));
    assertFalse(Moment.isNow(moment.toBuilder().setRunning(1).build()));
    assertFalse(Moment.isNow(moment.toBuilder().setReady(0).build()));
  }
}
