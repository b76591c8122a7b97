package dev.baton.workflow;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** What the repository shows to newcomers must be right. */
class ExamplesTest {
  private static final Path EXAMPLES = Path.of("..", "examples");

  @Test
  void shouldAcceptEveryExample() throws IOException {
    List<Path> files;
    try (Stream<Path> all = Files.list(EXAMPLES)) {
      files = all.filter(file -> file.toString().endsWith(".yaml")).sorted().toList();
    }

    assertEquals(
        List.of("build-chain.yaml", "diamond.yaml", "text-pipeline.yaml", "wide.yaml"),
        files.stream().map(file -> file.getFileName().toString()).toList());
    for (Path file : files) {
      Workflow workflow = Definitions.accepted(Files.readString(file));
      Definitions.accepted(workflow.bind(Map.of()));
      assertFalse(workflow.tasks().isEmpty());
    }
  }

  @Test
  void shouldAcceptEveryDefinitionInTheDocumentation() throws IOException {
    String text = Files.readString(Path.of("..", "docs", "workflows.md"));
    int count = 0;
    for (String block : text.split("```yaml\n", -1)) {
      int end = block.indexOf("\n```");
      if (block.startsWith("name:") && end > 0) {
        Definitions.accepted(block.substring(0, end));
        count++;
      }
    }
    assertEquals(2, count);
  }

  @Test
  void shouldEvaluateTheWholeOfTheDiamond() throws Exception {
    Workflow workflow = Definitions.accepted(Files.readString(EXAMPLES.resolve("diamond.yaml")));
    String params = Definitions.accepted(workflow.bind(Map.of()));

    for (TaskSpec task : workflow.tasks()) {
      Definitions.RESOLVER.resolve(workflow, task, params, index -> "{\"message\":\"m\"}");
    }
  }
}
