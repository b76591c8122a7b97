package dev.baton.node;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Runs {@link SampleNode} in a JVM of its own. */
class NodeProcessTest {
  private final List<Process> started = new ArrayList<>();

  @AfterEach
  void endAll() {
    started.forEach(Process::destroyForcibly);
  }

  @Test
  void shouldCloseInReverseOrderOnSigtermAndEndWithZero() throws Exception {
    Ended ended = signal(start("--id", "n1"), "TERM");

    assertEquals(0, ended.code(), ended.text());
    assertEquals(List.of("started n1", "closed second", "closed first"), ended.stdout());
  }

  @Test
  void shouldTakeCtrlCAlike() throws Exception {
    assertEquals(0, signal(start("--id", "n1"), "INT").code());
  }

  @Test
  void shouldEndWithZeroWhenAskedWhileItStarts() throws Exception {
    Ended ended = signal(start("--id", "n1", "--set", "slow=true"), "TERM");

    assertEquals(0, ended.code(), ended.text());
    assertEquals(List.of("starting n1", "closed first"), ended.stdout());
    assertEquals("", ended.text());
  }

  @Test
  void shouldLeaveBehindWhatDoesNotClose() throws Exception {
    Ended ended = signal(start("--id", "n1", "--set", "hang=true"), "TERM");

    assertEquals(ExitCode.INTERNAL.number(), ended.code());
    assertTrue(
        ended.text().contains("baton sample: second did not close within 300ms"), ended.text());
  }

  @Test
  void shouldEndWithTheSentenceAndCodeOfAFailedStart() throws Exception {
    Ended ended = end(start("--id", "n1", "--set", "fail=true"));

    assertEquals(ExitCode.ID_IN_USE.number(), ended.code());
    assertEquals(List.of("closed first"), ended.stdout());
    assertEquals("baton sample: the id is taken\n", ended.text());
  }

  @Test
  void shouldEndWhenAPartAsksForIt() throws Exception {
    Ended ended = end(start("--id", "n1", "--set", "giveUp=true"));

    assertEquals(ExitCode.INTERNAL.number(), ended.code());
    assertTrue(ended.text().contains("baton sample: the JVM can't go on"), ended.text());
    assertEquals("closed first", ended.stdout().getLast());
  }

  @Test
  void shouldRefuseAWrongCommandLineOrSetting() throws Exception {
    Ended flag = end(start("--idd", "n1"));
    assertEquals(ExitCode.USAGE.number(), flag.code());
    assertTrue(flag.text().contains("'baton sample --help' lists the flags"), flag.text());

    Ended setting = end(start("--set", "hangs=true"));
    assertEquals(ExitCode.CONFIGURATION.number(), setting.code());
    assertEquals(
        "baton sample: hangs (command line) is no setting; did you mean hang?\n", setting.text());
  }

  @Test
  void shouldPrintHelpAndSettings() throws Exception {
    Ended help = end(start("--help"));
    assertEquals(0, help.code());
    String text = String.join("\n", help.stdout());
    assertTrue(text.contains("--id=VALUE"), text);
    assertTrue(text.contains("giveUp"), text);
    assertTrue(text.contains("BATON_GIVE_UP"), text);

    Ended print = end(start("--id", "n1", "--print-config"));
    assertEquals(
        List.of(
            "id: n1  # command line", "fail: false", "hang: false", "giveUp: false", "slow: false"),
        print.stdout());
  }

  private record Ended(int code, List<String> stdout, String text) {}

  private Process start(String... arguments) throws IOException {
    List<String> command = new ArrayList<>();
    // A test run in the background hands an ignored SIGINT down to its children.
    command.addAll(List.of("env", "--default-signal=INT"));
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(List.of("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-cp"));
    command.add(System.getProperty("java.class.path"));
    command.add(SampleNode.class.getName());
    command.addAll(List.of(arguments));
    Process process = new ProcessBuilder(command).start();
    started.add(process);
    return process;
  }

  /** Sends a signal once the process says that it started. */
  private static Ended signal(Process process, String signal) throws Exception {
    BufferedReader stdout = process.inputReader();
    String first = stdout.readLine();
    new ProcessBuilder("kill", "-" + signal, Long.toString(process.pid())).start().waitFor();
    Ended ended = end(process);
    List<String> lines = new ArrayList<>();
    lines.add(first);
    lines.addAll(ended.stdout());
    return new Ended(ended.code(), lines, ended.text());
  }

  private static Ended end(Process process) throws Exception {
    assertTrue(process.waitFor(30, TimeUnit.SECONDS), "the process did not end");
    List<String> stdout = process.inputReader().lines().toList();
    String stderr =
        new String(
            process.getErrorStream().readAllBytes(), java.nio.charset.StandardCharsets.UTF_8);
    return new Ended(process.exitValue(), stdout, stderr);
  }
}
