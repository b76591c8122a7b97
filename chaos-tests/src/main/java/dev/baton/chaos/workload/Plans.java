package dev.baton.chaos.workload;

import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.baton.chaos.history.Observation.PlannedTask;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.random.RandomGenerator;

/**
 * Draws runs: what they look like follows from the seed alone.
 *
 * <p>Every run has a random word as its parameter. Tasks of type {@code echo} give the word with
 * their own name, and what a task before them gave, so an output tells which handler produced it;
 * those of type {@code shell} draw a word themselves, write it into a file of their own, and give
 * it as their output. As with users, most runs share few definitions, and some have one of their
 * own.
 */
final class Plans {
  private static final JsonMapper JSON = JsonMapper.builder().build();

  /** One of so many runs has a definition of its own. */
  private static final int UNIQUE = 20;

  /** Longer than any task takes, shorter than a clock may jump. */
  private static final String TASK_TIMEOUT = "4m";

  private static final String RUN_TIMEOUT = "8m";
  private static final Duration CANCEL_AFTER = Duration.ofMillis(400);
  private static final String COMMAND =
      """
      read -r w </proc/sys/kernel/random/uuid
      echo "$BATON_RUN $BATON_TASK $BATON_ATTEMPT $w" >>"$WITNESS"
      """;

  private final RandomGenerator random;
  private final Path witness;

  Plans(RandomGenerator random, Path witness) {
    this.random = random;
    this.witness = witness;
  }

  /** Four of five are echoes only: short runs are what a fail-over interrupts most of. */
  Plan draw() {
    return switch (random.nextInt(20)) {
      case 0, 1, 2, 3, 4, 5 -> chain(2 + random.nextInt(4));
      case 6, 7, 8, 9, 10 -> diamond(2 + random.nextInt(4));
      case 11, 12, 13 -> fanOut(3 + random.nextInt(6));
      case 14, 15 -> keyed();
      case 16, 17 -> sleeping();
      case 18 -> failing();
      default -> cancelled();
    };
  }

  private Plan chain(int length) {
    Drawing drawing = new Drawing("chain");
    for (int i = 0; i < length; i++) {
      drawing.echo("c" + i, i == 0 ? List.of() : List.of("c" + (i - 1)));
    }
    return drawing.plan(false, Duration.ZERO);
  }

  private Plan diamond(int width) {
    Drawing drawing = new Drawing("diamond");
    drawing.echo("top", List.of());
    List<String> middle = new ArrayList<>();
    for (int i = 0; i < width; i++) {
      drawing.echo("m" + i, List.of("top"));
      middle.add("m" + i);
    }
    drawing.echo("bottom", middle);
    return drawing.plan(false, Duration.ZERO);
  }

  private Plan fanOut(int width) {
    Drawing drawing = new Drawing("fan-out");
    drawing.echo("root", List.of());
    for (int i = 0; i < width; i++) {
      drawing.echo("leaf" + i, List.of("root"));
    }
    return drawing.plan(false, Duration.ZERO);
  }

  private Plan keyed() {
    Drawing drawing = new Drawing("keyed");
    drawing.echo("a", List.of());
    drawing.echo("b", List.of("a"));
    return drawing.plan(true, Duration.ZERO);
  }

  /** Runs while things happen. */
  private Plan sleeping() {
    Drawing drawing = new Drawing("sleeping");
    drawing.echo("a", List.of());
    drawing.sleep("s", 500 * (1 + random.nextInt(5)), List.of("a"));
    drawing.echo("z", List.of("s"));
    return drawing.plan(false, Duration.ZERO);
  }

  /** The first attempt of a command fails, the second does not. */
  private Plan failing() {
    Drawing drawing = new Drawing("failing");
    drawing.echo("a", List.of());
    drawing.shell("f", COMMAND + "[ \"$BATON_ATTEMPT\" -gt 1 ] || exit 3\necho \"$w\"", "a");
    drawing.shell("g", COMMAND + "echo \"$w\"", "f");
    return drawing.plan(false, Duration.ZERO);
  }

  private Plan cancelled() {
    Drawing drawing = new Drawing("cancelled");
    drawing.echo("a", List.of());
    drawing.sleep("s", 3000, List.of("a"));
    drawing.echo("z", List.of("s"));
    return drawing.plan(false, CANCEL_AFTER);
  }

  /** A workflow in the making. */
  private final class Drawing {
    private final String shape;
    private final ObjectNode root = JSON.createObjectNode();
    private final ArrayNode tasks;
    private final List<PlannedTask> planned = new ArrayList<>();
    private final String word = Long.toString(random.nextLong() >>> 1, 36);

    Drawing(String shape) {
      this.shape = shape;
      boolean unique = random.nextInt(UNIQUE) == 0;
      root.put("name", "chaos-" + shape + (unique ? "-" + word : ""));
      root.putObject("params").putNull("w");
      root.put("timeout", RUN_TIMEOUT);
      tasks = root.putArray("tasks");
    }

    void echo(String id, List<String> before) {
      ObjectNode params = task(id, "echo", before).putObject("params");
      ObjectNode expected = JSON.createObjectNode();
      params.put("word", "${{ params.w }}-" + id);
      expected.put("word", word + "-" + id);
      String first = before.isEmpty() ? "" : before.getFirst();
      if (planned.stream().anyMatch(t -> t.id().equals(first) && t.kind().equals("echo"))) {
        params.put("after", "${{ tasks." + first + ".output.word }}");
        expected.put("after", word + "-" + first);
      }
      planned.add(new PlannedTask(id, "echo", before, expected.toString()));
    }

    void sleep(String id, int millis, List<String> before) {
      task(id, "sleep", before).putObject("params").put("ms", millis);
      planned.add(new PlannedTask(id, "sleep", before, "{\"sleptMs\":" + millis + "}"));
    }

    void shell(String id, String command, String before) {
      ObjectNode task = task(id, "shell", List.of(before));
      ObjectNode params = task.putObject("params");
      params.put("command", command);
      params.putObject("env").put("WITNESS", witness.toString());
      task.putObject("retry").put("attempts", 3).put("delay", "200ms");
      planned.add(new PlannedTask(id, "shell", List.of(before), ""));
    }

    private ObjectNode task(String id, String type, List<String> before) {
      ObjectNode task = tasks.addObject();
      task.put("id", id);
      task.put("type", type);
      task.put("timeout", TASK_TIMEOUT);
      ArrayNode dependsOn = task.putArray("dependsOn");
      before.forEach(dependsOn::add);
      return task;
    }

    Plan plan(boolean keyed, Duration cancelAfter) {
      return new Plan(shape, root.toString(), word, planned, keyed, cancelAfter);
    }
  }
}
