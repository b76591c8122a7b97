package dev.baton.workflow;

import java.util.HashMap;
import java.util.Map;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** What the expressions of one attempt may read, taken in when one of them does. */
final class Inputs {
  /** Characters of outputs that are kept as trees at a time; a tree takes some 20 times as much. */
  private static final int KEPT = 1 << 20;

  private final Workflow workflow;
  private final String paramsJson;
  private final Function<Integer, String> outputJson;
  private final Map<String, Node> outputs = new HashMap<>();
  private final Map<String, Object> celOutputs = new HashMap<>();
  private final Map<String, Object> celParams = new HashMap<>();
  private @Nullable Node params;
  private int kept;
  private long read;

  Inputs(Workflow workflow, String paramsJson, Function<Integer, String> outputJson) {
    this.workflow = workflow;
    this.paramsJson = paramsJson;
    this.outputJson = outputJson;
  }

  Node params() throws ExpressionException {
    if (params == null) {
      params = parse(paramsJson, "the run's parameters are");
    }
    return params;
  }

  Node output(String task) throws ExpressionException {
    Node known = outputs.get(task);
    if (known != null) {
      return known;
    }
    int index = workflow.indexOf(task).orElseThrow(() -> Resolver.noTask(task));
    String json = outputJson.apply(index);
    read += json.length();
    if (read > Limits.OUTPUTS_READ) {
      throw new ExpressionException(
          "the expressions of the task read outputs of more than "
              + Limits.bytes(Limits.OUTPUTS_READ)
              + " together; read fewer, or gather them in tasks between");
    }
    Node output = parse(json.isEmpty() ? "null" : json, "the output of task " + task + " is");
    if (kept + json.length() > KEPT) {
      outputs.clear();
      celOutputs.clear();
      kept = 0;
    }
    kept += json.length();
    outputs.put(task, output);
    return output;
  }

  /** The variables that an expression names, in CEL's types. */
  Map<String, Object> variables(Expression expression) throws ExpressionException {
    for (String name : expression.params()) {
      Node value = params() instanceof Node.Fields object ? object.get(name) : null;
      if (value != null && !celParams.containsKey(name)) {
        celParams.put(name, CelValues.of(value));
      }
    }
    Map<String, Object> tasks = HashMap.newHashMap(expression.tasks().size());
    for (String task : expression.tasks()) {
      Node tree = output(task);
      Object value = celOutputs.computeIfAbsent(task, absent -> CelValues.of(tree));
      tasks.put(task, Map.of(ExpressionAnalysis.OUTPUT, value));
    }
    return Map.of(ExpressionAnalysis.PARAMS, celParams, ExpressionAnalysis.TASKS, tasks);
  }

  private static Node parse(String json, String what) throws ExpressionException {
    try {
      return JsonSource.parse(json, Limits.OUTPUT_DEPTH);
    } catch (SourceException malformed) {
      throw new ExpressionException(what + " not JSON: " + malformed.problem().sentence());
    }
  }
}
