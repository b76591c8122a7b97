package dev.baton.scheduler.testing;

import com.google.protobuf.ByteString;
import dev.baton.scheduler.loop.Submission;
import dev.baton.scheduler.model.SpecHash;
import dev.baton.workflow.Canonical;
import dev.baton.workflow.Judged;
import dev.baton.workflow.Workflow;
import dev.baton.workflow.WorkflowReader;

/** Workflows from their text. */
public final class Workflows {
  private static final WorkflowReader READER = new WorkflowReader();

  private Workflows() {}

  public static Workflow read(String yaml) {
    return switch (READER.read(yaml)) {
      case Judged.Accepted<Workflow>(Workflow workflow) -> workflow;
      case Judged.Refused<Workflow> refused -> throw new AssertionError(refused.report());
    };
  }

  public static Submission.Definition definition(String yaml) {
    return definition(read(yaml));
  }

  public static Submission.Definition definition(Workflow workflow) {
    Canonical canonical = Canonical.of(workflow);
    return new Submission.Definition(
        workflow, SpecHash.of(canonical.hash()), ByteString.copyFrom(canonical.compressed()));
  }

  /** One task {@code a} of type echo. */
  public static String one(String name) {
    return "name: " + name + "\ntasks: [{id: a, type: echo}]";
  }

  /** {@code a}, then {@code b}, {@code c} and {@code d}, then {@code e}. */
  public static String diamond(String name) {
    return """
    name: %s
    tasks:
      - {id: a, type: echo}
      - {id: b, type: echo, dependsOn: [a]}
      - {id: c, type: echo, dependsOn: [a]}
      - {id: d, type: echo, dependsOn: [a]}
      - {id: e, type: echo, dependsOn: [b, c, d]}
    """
        .formatted(name);
  }

  /** {@code t0} and so on, none after another. */
  public static String wide(String name, int width) {
    StringBuilder yaml = new StringBuilder("name: " + name + "\ntasks:\n");
    for (int i = 0; i < width; i++) {
      yaml.append("  - {id: t").append(i).append(", type: echo}\n");
    }
    return yaml.toString();
  }
}
