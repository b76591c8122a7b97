package dev.baton.it;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.baton.it.Ledger.Fault;
import dev.baton.it.Ledger.Kind;
import dev.baton.it.Ledger.TaskKey;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class LedgerTest {
  private static final TaskKey A = new TaskKey("r", "a");
  private static final TaskKey B = new TaskKey("r", "b");

  @Test
  void shouldFindNoFaultWithTasksThatRanOnceAndWithPlannedFailures() {
    Ledger ledger =
        Ledger.of(
            """
            S r a 1 10
            S r b 1 11
            S q a 1 12
            E r a 1 13
            F r b 1 14
            S r b 2 15
            E r b 2 16
            """);

    assertEquals(List.of(), ledger.faults());
    assertEquals(Set.of(A, B, new TaskKey("q", "a")), ledger.started());
    assertEquals(Set.of(A, B), ledger.ended());
    assertEquals(Set.of(new TaskKey("q", "a")), ledger.running());
    assertEquals(2, ledger.starts(B).size());
  }

  @Test
  void shouldFindAnAttemptThatStartedTwice() {
    assertFaults(
        """
        S r a 1 10
        S r a 1 11
        """,
        fault(Kind.STARTED_TWICE, 2, "S r a 1 11"),
        fault(Kind.STARTED_WHILE_RUNNING, 2, "S r a 1 11"));
  }

  @Test
  void shouldFindAnotherAttemptOfARunningTask() {
    assertFaults(
        """
        S r a 1 10
        S r a 2 11
        E r a 1 12
        """,
        fault(Kind.STARTED_WHILE_RUNNING, 2, "S r a 2 11"));
  }

  @Test
  void shouldFindAnyStartAfterTheEnd() {
    assertFaults(
        """
        S r a 1 10
        E r a 1 11
        S r a 1 12
        S r b 1 13
        E r b 1 14
        S r b 2 15
        E r b 2 16
        """,
        fault(Kind.STARTED_TWICE, 3, "S r a 1 12"),
        fault(Kind.STARTED_AFTER_END, 3, "S r a 1 12"),
        fault(Kind.STARTED_AFTER_END, 6, "S r b 2 15"),
        fault(Kind.ENDED_TWICE, 7, "E r b 2 16"));
  }

  @Test
  void shouldFindAnEarlierAttemptAfterALaterOne() {
    assertFaults(
        """
        S r a 2 10
        F r a 2 11
        S r a 1 12
        """,
        fault(Kind.ATTEMPT_FELL, 3, "S r a 1 12"));
  }

  @Test
  void shouldFindEndsThatNoStartExplains() {
    assertFaults(
        """
        E r a 1 10
        S r b 1 11
        E r b 1 12
        E r b 1 13
        E r b 2 14
        """,
        fault(Kind.ENDED_WITHOUT_START, 1, "E r a 1 10"),
        fault(Kind.ENDED_TWICE, 4, "E r b 1 13"),
        fault(Kind.ENDED_WITHOUT_START, 5, "E r b 2 14"));
  }

  @Test
  void shouldFindLinesThatAreNotWhole() {
    assertFaults(
        """
        S r a 1
        S r a 1 10S r b 1 10
        X r a 1 10
        S r a one 10
        """,
        fault(Kind.MALFORMED, 1, "S r a 1"),
        fault(Kind.MALFORMED, 2, "S r a 1 10S r b 1 10"),
        fault(Kind.MALFORMED, 3, "X r a 1 10"),
        fault(Kind.MALFORMED, 4, "S r a one 10"));
  }

  @Test
  void shouldTellWhatIsNewAndLeaveALineThatIsBeingWritten(@TempDir Path folder) throws IOException {
    Path file = folder.resolve("ledger");
    assertEquals(List.of(), Ledger.read(file).marks());
    Files.writeString(file, "S r a 1 10\nE r a");
    Ledger first = Ledger.read(file);
    assertEquals(Set.of(A), first.running());

    Files.writeString(file, "S r a 1 10\nE r a 1 11\nS r b 1 12\n");
    Ledger second = Ledger.read(file);

    assertEquals(List.of(), second.faults());
    assertEquals(List.of('E', 'S'), second.since(first).stream().map(Ledger.Mark::kind).toList());
  }

  private static Fault fault(Kind kind, int line, String text) {
    return new Fault(kind, line, text);
  }

  private static void assertFaults(String text, Fault... expected) {
    assertEquals(List.of(expected), Ledger.of(text).faults());
  }
}
