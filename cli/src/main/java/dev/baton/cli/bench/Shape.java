package dev.baton.cli.bench;

import java.util.Locale;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * The form of a benchmark's workflow: layers of tasks, each depending on the whole layer before.
 */
public enum Shape {
  DIAMOND(3, 3),
  CHAIN(10, 1),
  WIDE(3, 100);

  private final int layers;
  private final int width;

  /** The first layer and the last have one task, those between {@code width}. */
  Shape(int layers, int width) {
    this.layers = layers;
    this.width = width;
  }

  public int tasks() {
    return 2 + (layers - 2) * width;
  }

  /** The tasks that a task depends on: from (inclusive) to (exclusive); equal for the first. */
  Dependencies dependencies(int task) {
    int first = 0;
    int before = 0;
    for (int layer = 0; layer < layers; layer++) {
      int size = layer == 0 || layer == layers - 1 ? 1 : width;
      if (task < first + size) {
        return new Dependencies(before, first);
      }
      before = first;
      first += size;
    }
    throw new IllegalArgumentException("Expected a task of " + this + ", but got " + task + ".");
  }

  record Dependencies(int from, int to) {}

  /** The task's index in its id, {@code t<index>}. */
  static int indexOf(String taskId) {
    return Integer.parseInt(taskId.substring(1));
  }

  /** The definition; each task echoes a text of so many characters. */
  public String definition(int payloadBytes) {
    String params = payloadBytes == 0 ? "" : ", params: {p: \"" + "x".repeat(payloadBytes) + "\"}";
    StringBuilder text = new StringBuilder("name: bench-" + name().toLowerCase(Locale.ROOT));
    text.append("\ntasks:\n");
    for (int task = 0; task < tasks(); task++) {
      Dependencies before = dependencies(task);
      String names =
          IntStream.range(before.from(), before.to())
              .mapToObj(i -> "t" + i)
              .collect(Collectors.joining(", "));
      text.append("- {id: t").append(task).append(", type: echo");
      if (!names.isEmpty()) {
        text.append(", dependsOn: [").append(names).append(']');
      }
      text.append(params).append("}\n");
    }
    return text.toString();
  }
}
