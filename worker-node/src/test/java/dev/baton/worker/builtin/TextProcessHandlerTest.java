package dev.baton.worker.builtin;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import dev.baton.worker.FatalTaskException;
import dev.baton.worker.TaskFailedException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class TextProcessHandlerTest {
  /** The abstract that the paper on RAKE uses as its example. */
  private static final String ABSTRACT =
      """
      Compatibility of systems of linear constraints over the set of natural numbers.
      Criteria of compatibility of a system of linear Diophantine equations, strict
      inequations, and nonstrict inequations are considered. Upper bounds for
      components of a minimal set of solutions and algorithms of construction of
      minimal generating sets of solutions for all types of systems are given.
      These criteria and the corresponding algorithms for constructing a minimal
      supporting set of solutions can be used in solving all the considered types of
      systems and systems of mixed types.
      """;

  @TempDir Path directory;

  @Test
  void shouldCountWords() throws Exception {
    JsonNode result =
        run("operation", "word_count", "text", "The cat.\nThe DOG, don't!\nÉtat 3", "limit", 2);
    assertEquals(
        "{\"words\":7,\"lines\":3,\"characters\":31,"
            + "\"top\":[{\"word\":\"the\",\"count\":2},{\"word\":\"3\",\"count\":1}]}",
        result.toString());
  }

  @Test
  void shouldCountNothingInAnEmptyText() throws Exception {
    assertEquals(
        "{\"words\":0,\"lines\":0,\"characters\":0,\"top\":[]}",
        run("operation", "word_count", "text", "").toString());
  }

  @Test
  void shouldReadAFile() throws Exception {
    Path file = Files.writeString(directory.resolve("a.txt"), "one two\n");
    assertEquals(
        2, run("operation", "word_count", "path", file.toString()).get("words").intValue());
  }

  @Test
  void shouldFindTheKeywordsOfThePaper() throws Exception {
    JsonNode keywords = run("operation", "keywords", "text", ABSTRACT, "limit", 6).get("keywords");
    List<String> found =
        StreamSupport.stream(keywords.spliterator(), false)
            .map(entry ->
                "%s %.1f".formatted(entry.get("word").textValue(), entry.get("score").asDouble()))
            .toList();
    assertEquals(
        List.of(
            "minimal generating sets 8.7",
            "linear diophantine equations 8.5",
            "minimal supporting set 7.7",
            "minimal set 4.7",
            "linear constraints 4.5",
            "natural numbers 4.0"),
        found);
  }

  @Test
  void shouldMergeCounts() throws Exception {
    Map<String, Object> first = Map.of("words", 3, "top", List.of(Map.of("word", "a", "count", 2)));
    Map<String, Object> second =
        Map.of(
            "words",
            4,
            "top",
            List.of(Map.of("word", "b", "count", 2), Map.of("word", "a", "count", 1)));
    assertEquals(
        "{\"words\":7,\"top\":[{\"word\":\"a\",\"count\":3},{\"word\":\"b\",\"count\":2}]}",
        run("operation", "merge_counts", "counts", List.of(first, second)).toString());
  }

  @Test
  void shouldSayWhatIsWrongWithTheInputs() {
    assertEquals(
        "Expected 'operation' to be word_count, keywords or merge_counts, but got 'x'.",
        refusal("operation", "x"));
    assertEquals(
        "Expected either the input 'text' or 'path', but the task has neither.",
        refusal("operation", "keywords"));
    assertEquals(
        "Expected 'limit' to be 0 to 5000, but got -1.",
        refusal("operation", "word_count", "text", "", "limit", -1));
    assertEquals(
        "Expected 'counts' to be a list of outputs of word_count, but got a string.",
        refusal("operation", "merge_counts", "counts", "x"));
    assertTrue(
        refusal("operation", "merge_counts", "counts", List.of(Map.of("words", 1)))
            .endsWith("but number 1 is not."));
  }

  @Test
  void shouldSayWhatIsWrongWithAFile() throws Exception {
    String missing = directory.resolve("none").toString();
    TaskFailedException notThere =
        assertThrows(
            TaskFailedException.class, () -> run("operation", "word_count", "path", missing));
    assertEquals(
        "The file '" + missing + "' does not exist on this worker.", notThere.getMessage());
    assertTrue(
        refusal("operation", "word_count", "path", directory.toString()).endsWith("is none."));
    Path binary = Files.write(directory.resolve("b"), new byte[] {'o', 'k', (byte) 0xff});
    assertTrue(
        refusal("operation", "word_count", "path", binary.toString())
            .endsWith("is not UTF-8 text: byte 2 is malformed."));
    Path cut = Files.write(directory.resolve("c"), new byte[] {'o', 'k', (byte) 0xc3});
    assertTrue(
        refusal("operation", "word_count", "path", cut.toString())
            .endsWith("byte 2 is malformed."));
    Path large = Files.write(directory.resolve("l"), new byte[(16 << 20) + 1]);
    assertTrue(
        refusal("operation", "word_count", "path", large.toString())
            .contains("is larger than 16777216 bytes"));
  }

  @Test
  void shouldStopWhenItIsCancelled() {
    FakeContext context =
        FakeContext.with("operation", "word_count", "text", "word ".repeat(10_000));
    context.cancel();
    assertThrows(TaskFailedException.class, () -> new TextProcessHandler().handle(context));
  }

  private static String refusal(Object... inputs) {
    return String.valueOf(assertThrows(FatalTaskException.class, () -> run(inputs)).getMessage());
  }

  private static JsonNode run(Object... inputs) throws Exception {
    return FakeContext.JSON.valueToTree(new TextProcessHandler().handle(FakeContext.with(inputs)));
  }
}
