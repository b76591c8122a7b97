package dev.baton.workflow;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.zip.DeflaterOutputStream;
import java.util.zip.InflaterInputStream;

/**
 * The one text that a workflow has, however its definition was written: JSON of the same schema,
 * fields in a fixed order, names sorted, defaults written into the tasks, and what says nothing
 * left out. It was judged before it was made, so reading it back judges only its shape.
 *
 * @param text the JSON
 */
public record Canonical(String text) {
  /** The canonical form of a workflow. */
  public static Canonical of(Workflow workflow) {
    return new Canonical(new Writer().write(workflow));
  }

  /**
   * The workflow; expressions are not looked at, so 10,000 tasks take some 50 ms.
   *
   * @throws IllegalArgumentException if this is no canonical form
   */
  public Workflow workflow() {
    Problems problems = new Problems();
    try {
      Definition definition =
          new DefinitionReader(problems).read(JsonSource.parse(text, Limits.DEPTH));
      Graph graph = Graph.link(definition.tasks(), problems);
      if (problems.isEmpty()) {
        return definition.workflow(graph);
      }
    } catch (SourceException malformed) {
      throw new IllegalArgumentException(
          "Expected a canonical workflow, but " + malformed.problem().sentence(), malformed);
    }
    throw new IllegalArgumentException(
        "Expected a canonical workflow, but " + problems.first().sentence());
  }

  /** SHA-256 of the text in UTF-8. */
  public byte[] hash() {
    try {
      return MessageDigest.getInstance("SHA-256").digest(JsonText.utf8(text));
    } catch (NoSuchAlgorithmException impossible) {
      throw new IllegalStateException("Expected SHA-256 in every Java", impossible);
    }
  }

  /** The hash in hexadecimal digits. */
  public String hashHex() {
    return HexFormat.of().formatHex(hash());
  }

  /** What is stored. */
  public byte[] compressed() {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (DeflaterOutputStream deflater = new DeflaterOutputStream(bytes)) {
      deflater.write(JsonText.utf8(text));
    } catch (IOException impossible) {
      throw new IllegalStateException("Expected no I/O in memory", impossible);
    }
    return bytes.toByteArray();
  }

  /**
   * The reverse of {@link #compressed}; reads no more than a canonical form may have.
   *
   * @throws IllegalArgumentException if the bytes were not made by it
   */
  public static Canonical decompress(byte[] compressed) {
    byte[] bytes;
    try (InputStream inflater = new InflaterInputStream(new ByteArrayInputStream(compressed))) {
      bytes = inflater.readNBytes(Limits.CANONICAL_BYTES + 1);
    } catch (IOException malformed) {
      throw new IllegalArgumentException("Expected a compressed workflow", malformed);
    }
    if (bytes.length > Limits.CANONICAL_BYTES) {
      throw new IllegalArgumentException(
          "Expected at most " + Limits.bytes(Limits.CANONICAL_BYTES) + ", but there is more");
    }
    return new Canonical(new String(bytes, StandardCharsets.UTF_8));
  }

  private static final class Writer {
    private final StringBuilder json = new StringBuilder();

    String write(Workflow workflow) {
      json.append("{\"name\":");
      quote(workflow.name());
      if (!workflow.version().isEmpty()) {
        json.append(",\"version\":");
        quote(workflow.version());
      }
      if (!workflow.params().isEmpty()) {
        json.append(",\"params\":");
        Map<String, String> params = new TreeMap<>();
        workflow.params().forEach((name, param) -> params.put(name, orNull(param)));
        object(params);
      }
      if (workflow.onFailure() != OnFailure.FINISH) {
        json.append(",\"onFailure\":");
        quote(Section.lower(workflow.onFailure()));
      }
      if (!workflow.timeout().isZero()) {
        json.append(",\"timeout\":");
        quote(Durations.format(workflow.timeout()));
      }
      String comma = ",\"tasks\":[";
      for (TaskSpec task : workflow.tasks()) {
        json.append(comma);
        task(workflow, task);
        comma = ",";
      }
      return json.append("]}").toString();
    }

    private static String orNull(Parameter param) {
      String given = param.defaultJson();
      return given == null ? "null" : given;
    }

    private void task(Workflow workflow, TaskSpec task) {
      json.append("{\"id\":");
      quote(task.id());
      json.append(",\"type\":");
      quote(task.type());
      if (!task.dependsOn().isEmpty()) {
        strings(
            ",\"dependsOn\":",
            task.dependsOn().stream().map(index -> workflow.task(index).id()).toList());
      }
      if (!task.params().isEmpty()) {
        json.append(",\"params\":");
        Map<String, String> params = new TreeMap<>();
        task.params().forEach((name, template) -> params.put(name, template.json()));
        object(params);
      }
      if (!task.timeout().isZero()) {
        json.append(",\"timeout\":");
        quote(Durations.format(task.timeout()));
      }
      if (!task.retry().equals(RetryPolicy.DEFAULT)) {
        retry(task.retry());
      }
      if (task.priority() != 5) {
        json.append(",\"priority\":").append(task.priority());
      }
      json.append('}');
    }

    private void retry(RetryPolicy retry) {
      json.append(",\"retry\":{\"attempts\":").append(retry.attempts()).append(",\"delay\":");
      quote(Durations.format(retry.firstDelay()));
      json.append(",\"maxDelay\":");
      quote(Durations.format(retry.longestDelay()));
      if (!retry.finalOn().isEmpty()) {
        strings(
            ",\"finalOn\":", new TreeSet<>(retry.finalOn()).stream().map(Section::lower).toList());
      }
      json.append(",\"maxLosses\":").append(retry.maxLosses()).append('}');
    }

    private void object(Map<String, String> fields) {
      String comma = "{";
      for (Map.Entry<String, String> field : fields.entrySet()) {
        json.append(comma);
        quote(field.getKey());
        json.append(':').append(field.getValue());
        comma = ",";
      }
      json.append('}');
    }

    private void strings(String name, List<String> values) {
      String comma = name + "[";
      for (String value : values) {
        json.append(comma);
        quote(value);
        comma = ",";
      }
      json.append(']');
    }

    private void quote(String value) {
      JsonText.quote(value, json);
    }
  }
}
