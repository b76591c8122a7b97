package dev.baton.scheduler.loop;

import com.google.protobuf.ByteString;
import dev.baton.scheduler.model.RunId;
import dev.baton.scheduler.model.SpecHash;
import dev.baton.workflow.Workflow;
import java.util.Map;

/**
 * A run that somebody wants, judged and bound before it reaches the loop.
 *
 * @param definition the workflow with what is stored of it
 * @param paramsJson one JSON object; empty: no parameters
 * @param bodyHash of what the user sent: the same key with another body is refused
 */
public record Submission(
    RunId id,
    Definition definition,
    String tenant,
    Map<String, String> labels,
    String actor,
    String key,
    String paramsJson,
    long bodyHash,
    boolean requireWorkers) {
  public Submission {
    labels = Map.copyOf(labels);
  }

  /** A workflow, its hash, and its compressed canonical form. */
  public record Definition(Workflow workflow, SpecHash hash, ByteString stored) {}
}
