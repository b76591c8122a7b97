package dev.baton.node;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ConfigurationTest {
  @TempDir Path folder;

  enum Mode {
    KEEP_RUNNING,
    KILL
  }

  record Sample(
      @Flag(value = "--id", help = "name of this node") String id,
      @Default("4") int slots,
      @Default("0.5") double share,
      @Default("false") boolean insecureShell,
      @Default("keep-running") Mode onLoss,
      @Default("echo,sleep") List<String> capabilities,
      Map<String, String> labels,
      @Nullable Path folder,
      EtcdSettings etcd,
      @Default("grpcPort=7410, httpPort=7411") ListenSettings listen,
      LogSettings log) {
    Sample {
      if (slots < 1 || slots > 1000) {
        throw new IllegalArgumentException("slots is 1 to 1000, but got " + slots);
      }
    }
  }

  @Test
  void shouldLetTheCommandLineOverrideVariablesAndVariablesTheFile() throws IOException {
    Path file =
        file(
            """
            id: from-file
            slots: 8
            share: 0.25
            etcd:
              endpoints: [10.0.0.1:2379, '[::1]:2379']
            labels:
              zone: a
              rack.row: "7"
            """);
    Sample sample =
        read(
            file,
            Map.of("BATON_SLOTS", "16", "BATON_SHARE", "0.75", "BATON_LABELS", "zone=b,disk=ssd"),
            Map.of("share", "1"));

    assertEquals("from-file", sample.id());
    assertEquals(16, sample.slots());
    assertEquals(1.0, sample.share());
    assertEquals(Map.of("zone", "b", "rack.row", "7", "disk", "ssd"), sample.labels());
    assertEquals(
        List.of(new HostPort("10.0.0.1", 2379), new HostPort("::1", 2379)),
        sample.etcd().endpoints());
    assertEquals("[::1]:2379", sample.etcd().members().get(1));
  }

  @Test
  void shouldFillInDefaultsAndThoseOfTheOuterRecordFirst() {
    Sample sample = read(null, Map.of(), minimal());

    assertEquals(Mode.KEEP_RUNNING, sample.onLoss());
    assertEquals(List.of("echo", "sleep"), sample.capabilities());
    assertEquals(Duration.ofSeconds(30), sample.etcd().startTimeout());
    assertEquals(7410, sample.listen().grpcPort());
    assertEquals(new HostPort("127.0.0.1", 7411), sample.listen().http());
    assertEquals(null, sample.folder());
  }

  @Test
  void shouldKeepTextAsItWasWritten() throws IOException {
    Sample sample =
        read(
            file("id: 007\nlabels: {stage: off, at: 12:30}\n"),
            Map.of(),
            Map.of("etcd.endpoints", "a:1"));

    assertEquals("007", sample.id());
    assertEquals(Map.of("stage", "off", "at", "12:30"), sample.labels());
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "etcd: {endpoint: a:1}| line 1) is no setting; did you mean etcd.endpoints?",
        "endpoints: a:1| line 1) is no setting; did you mean etcd.endpoints?",
        "slotz: 4| slotz (",
        "purple-elephant: 4| is no setting; --help lists them all",
        "etcd: here| is a section, not a value: it holds settings such as etcd.endpoints",
        "slots: many| a whole number is expected, but got 'many'",
        "slots: 99999999999| a number from -2147483648 to 2147483647 is expected",
        "slots: 0| slots is 1 to 1000, but got 0 (from ",
        "slots: [1, 2]| one value is expected, but got a list",
        "share: NaN| a finite number is expected",
        "insecureShell: maybe| true or false is expected, but got 'maybe'",
        "onLoss: panic| one of keep-running, kill is expected, but got 'panic'",
        "etcd: {startTimeout: 5 parsecs}| a duration such as 200ms, 5s, 2m, 1h or 7d is expected",
        "etcd: {startTimeout: 2h}| etcd.startTimeout: 0s to 1h is expected (from ",
        "etcd: {endpoints: http://a:1}| leave out the part up to '://'",
        "etcd: {endpoints: a}| host:port (or [ipv6]:port) is expected, but got 'a'",
        "etcd: {endpoints: a:66666}| a port is 0 to 65535, but got 66666",
        "etcd: {endpoints: []}| etcd.endpoints: 1 to 16 members are expected, but got 0",
        "listen: {advertise: 10.0.0.7}| needs insecureBind (--insecure-bind)",
        "listen: {insecureBind: 0.0.0.0}| set advertise to the one that others can reach",
        "listen: {grpcPort: 7, httpPort: 7}| each needs its own",
        "id: a: b| is not YAML: mapping values are not allowed here",
        "- id| names and values are expected",
        "slots: &s [*s]| holds single values only",
      })
  void shouldRefuseWithOneSentence(String yaml, String expected) throws IOException {
    String sentence = refusal(file(yaml), rest(yaml), Map.of());

    assertTrue(sentence.contains(expected), sentence);
    assertFalse(sentence.contains("\n"), sentence);
  }

  @Test
  void shouldNameTheLineOfAWrongSettingAndOfOneGivenTwice() throws IOException {
    assertEquals(
        "slotz (%s line 3) is no setting; did you mean slots?"
            .formatted(folder.resolve("node.yaml")),
        refusal(file("id: a\n\nslotz: 3\n"), Map.of(), Map.of()));
    assertTrue(refusal(file("slots: 3\nslots: 4\n"), Map.of(), Map.of()).endsWith("line 1)"));
  }

  @Test
  void shouldNameVariablesInTheirOwnForm() {
    assertEquals(
        "the variable BATON_ETCD_ENDPONTS is no setting; did you mean BATON_ETCD_ENDPOINTS?",
        refusal(null, Map.of("BATON_ETCD_ENDPONTS", "a:1"), minimal()));
    assertEquals(
        "slots (BATON_SLOTS): a whole number is expected, but got 'x'",
        refusal(null, Map.of("BATON_SLOTS", "x"), minimal()));
  }

  @Test
  void shouldLeaveVariablesOfOthersAlone() {
    Map<String, String> others =
        Map.of(
            "BATON_HEAP", "1g",
            "BATON_SERVICE_HOST", "10.0.0.1",
            "BATON_SCHEDULER_PORT_7410_TCP_ADDR", "10.0.0.1",
            "BATON_PORT", "tcp://10.0.0.1:7410",
            "PATH", "/bin",
            "BATON_SLOTS", "");

    assertEquals(4, read(null, others, minimal()).slots());
  }

  @Test
  void shouldSayHowToGiveWhatIsMissing() {
    assertEquals(
        "id is missing: give it in the configuration file, as BATON_ID or by --id",
        refusal(null, Map.of(), Map.of("etcd.endpoints", "a:1")));
    assertEquals(
        "the configuration file nowhere.yaml does not exist",
        refusal(Path.of("nowhere.yaml"), Map.of(), Map.of()));
  }

  @Test
  void shouldNeverShowASecret() throws IOException {
    Path secretFile = Files.writeString(folder.resolve("password"), "hunter2\n");
    Map<String, String> user = new java.util.HashMap<>(minimal());
    user.put("etcd.user", "baton");

    Sample sample = read(null, Map.of("BATON_ETCD_PASSWORD", "file:" + secretFile), user);
    assertEquals(new Secret("hunter2"), sample.etcd().password());
    assertFalse(sample.toString().contains("hunter2"), sample.toString());

    Configuration<Sample> configuration =
        Configuration.read(
            Sample.class, new Sources(null, Map.of("BATON_ETCD_PASSWORD", "hunter2"), user));
    assertTrue(configuration.effective().contains("etcd.password: '****'  # BATON_ETCD_PASSWORD"));
    assertFalse(configuration.effective().contains("hunter2"));

    user.put("etcd.password", "hunter2");
    String sentence = refusal(null, Map.of(), user);
    assertTrue(sentence.contains("could be read by every user of this machine"), sentence);
    assertFalse(sentence.contains("hunter2"), sentence);
  }

  @Test
  void shouldPrintSettingsThatReadBackAlike() throws IOException {
    Configuration<Sample> first =
        Configuration.read(
            Sample.class,
            new Sources(
                file("labels: {zone: 'a: # b', empty: ''}\netcd: {startTimeout: 90s}"),
                Map.of("BATON_LOG_FORMAT", "json"),
                minimal()));
    Sample again = read(file(first.effective()), Map.of(), Map.of());

    assertEquals(first.settings(), again);
    assertTrue(first.effective().contains("log.format: json  # BATON_LOG_FORMAT\n"));
    assertTrue(first.effective().contains("etcd.startTimeout: 90s  # "));
    assertTrue(first.effective().contains("slots: 4\n"));
  }

  /** Gives what must be given, unless the file is about it. */
  private static Map<String, String> rest(String yaml) {
    return yaml.contains("endpoints")
        ? Map.of("BATON_ID", "s1")
        : Map.of("BATON_ID", "s1", "BATON_ETCD_ENDPOINTS", "a:1");
  }

  private static Map<String, String> minimal() {
    return Map.of("id", "s1", "etcd.endpoints", "127.0.0.1:2379");
  }

  private Path file(String yaml) throws IOException {
    return Files.writeString(folder.resolve("node.yaml"), yaml);
  }

  private static Sample read(
      @Nullable Path file, Map<String, String> environment, Map<String, String> commandLine) {
    return Configuration.read(Sample.class, new Sources(file, environment, commandLine)).settings();
  }

  private static String refusal(
      @Nullable Path file, Map<String, String> environment, Map<String, String> commandLine) {
    ExitException refused =
        assertThrows(ExitException.class, () -> read(file, environment, commandLine));
    assertEquals(ExitCode.CONFIGURATION, refused.code());
    return refused.sentence();
  }
}
