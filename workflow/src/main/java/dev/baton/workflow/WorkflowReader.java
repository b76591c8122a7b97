package dev.baton.workflow;

import java.util.List;

/**
 * Reads and judges definitions. The same text gets the same judgement everywhere: it does no I/O
 * and asks nobody. Any thread may use it; keep one for the process.
 */
public final class WorkflowReader {
  private final ExpressionLanguage language;

  /** A reader with a memory of its own for expressions. */
  public WorkflowReader() {
    this.language = new ExpressionLanguage();
  }

  /** A reader that shares what it has parsed with a resolver. */
  public WorkflowReader(Resolver resolver) {
    this.language = resolver.language();
  }

  /**
   * Reads a definition.
   *
   * @param text YAML, or JSON if its first character that is no space is a brace
   */
  public Judged<Workflow> read(String text) {
    int size = JsonText.utf8Length(text);
    if (size > Limits.TEXT_BYTES) {
      return refused(
          "the definition has "
              + Limits.count(size)
              + " bytes, more than the limit of "
              + Limits.bytes(Limits.TEXT_BYTES)
              + "; split the workflow, or give its data as files");
    }
    Node root;
    try {
      root = parse(text);
    } catch (SourceException malformed) {
      return new Judged.Refused<>(List.of(malformed.problem()), 1);
    }
    if (root.isNull()) {
      return refused("the definition is empty; write at least name and tasks");
    }
    Problems problems = new Problems();
    Definition definition = new DefinitionReader(problems).read(root);
    Graph graph = Graph.link(definition.tasks(), problems);
    if (graph.hasNoCycle(problems)) {
      new ExpressionRules(language, definition, graph, problems).check();
    }
    return problems.isEmpty() ? accept(definition.workflow(graph)) : problems.refusal();
  }

  private static Node parse(String text) throws SourceException {
    String body = text.startsWith("\uFEFF") ? text.substring(1) : text;
    return body.stripLeading().startsWith("{")
        ? JsonSource.parse(body, Limits.DEPTH)
        : YamlSource.parse(body, Limits.DEPTH);
  }

  /** Its definition may be small enough while what it comes to is not. */
  private static Judged<Workflow> accept(Workflow workflow) {
    Canonical canonical = Canonical.of(workflow);
    int size = JsonText.utf8Length(canonical.text());
    if (size > Limits.CANONICAL_BYTES) {
      return refused(
          "with its defaults in every task the definition has "
              + Limits.count(size)
              + " bytes, more than the limit of "
              + Limits.bytes(Limits.CANONICAL_BYTES)
              + "; split the workflow");
    }
    if (size > Limits.COMPRESSED_BYTES) {
      int compressed = canonical.compressed().length;
      if (compressed > Limits.COMPRESSED_BYTES) {
        return refused(
            "the definition has "
                + Limits.count(compressed)
                + " bytes when compressed, more than the limit of "
                + Limits.bytes(Limits.COMPRESSED_BYTES)
                + "; split the workflow, or give its data as files");
      }
    }
    return new Judged.Accepted<>(workflow);
  }

  private static Judged<Workflow> refused(String message) {
    return new Judged.Refused<>(List.of(new Problem("", 0, 0, message)), 1);
  }
}
