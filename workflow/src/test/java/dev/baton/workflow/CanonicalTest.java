package dev.baton.workflow;

import static dev.baton.workflow.Definitions.accepted;
import static dev.baton.workflow.Definitions.chain;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.junit.jupiter.api.Test;

class CanonicalTest {
  private static final String TEXT =
      """
      name: x
      version: 2
      params: {z: {b: 1, a: [1.50, 1e3]}, need: , a: "ü\\u0000\\"\\U0001F600"}
      onFailure: cancel
      timeout: 90m
      defaults: {retry: {attempts: 4, finalOn: [timeout, error]}}
      tasks:
      - {id: second, type: t, dependsOn: [first, third], params: {z: 1, a: '${{ params.a }}'}}
      - {id: first, type: t, timeout: 1500ms, priority: 1}
      - {id: third, type: t, retry: {attempts: 1, finalOn: []}}
      """;

  @Test
  void shouldBeOneTextForAllWaysOfWriting() {
    Canonical canonical = Canonical.of(accepted(TEXT));

    assertEquals(
        "{\"name\":\"x\",\"version\":\"2\",\"params\":{\"a\":\"ü\\u0000\\\"😀\",\"need\":null,"
            + "\"z\":{\"b\":1,\"a\":[1.50,1e3]}},\"onFailure\":\"cancel\",\"timeout\":\"90m\","
            + "\"tasks\":[{\"id\":\"second\",\"type\":\"t\",\"dependsOn\":[\"first\",\"third\"],"
            + "\"params\":{\"a\":\"${{ params.a }}\",\"z\":1},\"retry\":{\"attempts\":4,"
            + "\"delay\":\"1s\",\"maxDelay\":\"1m\",\"finalOn\":[\"error\",\"timeout\"],"
            + "\"maxLosses\":5}},{\"id\":\"first\",\"type\":\"t\",\"timeout\":\"1500ms\","
            + "\"retry\":{\"attempts\":4,\"delay\":\"1s\",\"maxDelay\":\"1m\","
            + "\"finalOn\":[\"error\",\"timeout\"],\"maxLosses\":5},\"priority\":1},"
            + "{\"id\":\"third\",\"type\":\"t\"}]}",
        canonical.text());
    assertEquals(canonical, Canonical.of(accepted(canonical.text())));
  }

  @Test
  void shouldReadBackAsTheSameWorkflow() {
    Workflow workflow = accepted(TEXT);
    Canonical canonical = Canonical.of(workflow);

    assertEquals(workflow, canonical.workflow());
    assertEquals(workflow, accepted(canonical.text()));
    assertEquals(canonical, Canonical.decompress(canonical.compressed()));
  }

  @Test
  void shouldHashTheText() {
    Canonical canonical = Canonical.of(accepted(TEXT));

    assertEquals(32, canonical.hash().length);
    assertEquals(64, canonical.hashHex().length());
    assertArrayEquals(canonical.hash(), Canonical.of(accepted("# comment\n" + TEXT)).hash());
    assertNotEquals(
        canonical.hashHex(), Canonical.of(accepted(TEXT.replace("90m", "91m"))).hashHex());
    assertEquals(
        "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
        new Canonical("abc").hashHex());
  }

  @Test
  void shouldRefuseWhatItDidNotWrite() {
    byte[] good = Canonical.of(accepted(TEXT)).compressed();
    byte[] bomb = new Canonical("x".repeat(5 << 20)).compressed();

    assertRefuses("Expected at most 4 MiB, but there is more", bomb);
    assertRefuses("Expected a compressed workflow", Arrays.copyOf(good, good.length / 2));
    assertRefuses("Expected a compressed workflow", "plain".getBytes(StandardCharsets.UTF_8));
    assertRefuses("Expected a compressed workflow", new byte[0]);
    assertEquals(
        "java.lang.IllegalArgumentException: Expected a canonical workflow, but name (line 1,"
            + " column 1): the field name is missing; give it, 1 to 128 letters, digits, and . _ -",
        assertThrows(IllegalArgumentException.class, () -> new Canonical("{}").workflow())
            .toString());
    assertThrows(IllegalArgumentException.class, () -> new Canonical("{").workflow());
  }

  private static void assertRefuses(String message, byte[] compressed) {
    assertEquals(
        message,
        assertThrows(IllegalArgumentException.class, () -> Canonical.decompress(compressed))
            .getMessage());
  }

  @Test
  void shouldReadWithoutLookingAtExpressions() {
    Workflow workflow =
        new Canonical(
                "{\"name\":\"x\",\"tasks\":[{\"id\":\"a\",\"type\":\"t\",\"params\":{\"p\":"
                    + "\"${{ not an expression }}\"}}]}")
            .workflow();

    assertTrue(workflow.task(0).constants().isEmpty());
  }

  @Test
  void shouldReadTenThousandTasksInAMoment() {
    Canonical canonical =
        Canonical.of(accepted(chain(10_000, ", params: {v: '${{ tasks.@.output.n + # }}'}")));
    long fastest = Long.MAX_VALUE;
    for (int i = 0; i < 3; i++) {
      long start = System.nanoTime();
      canonical.workflow();
      fastest = Math.min(fastest, System.nanoTime() - start);
    }

    // Some 30 ms on an idle machine.
    assertTrue(fastest < 1_000_000_000, fastest + " ns");
  }
}
