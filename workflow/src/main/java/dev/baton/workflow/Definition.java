package dev.baton.workflow;

import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * A definition whose fields are in shape; what its tasks say of each other is not judged yet.
 *
 * @param params by name
 */
record Definition(
    String name,
    String version,
    Map<String, Parameter> params,
    OnFailure onFailure,
    Duration timeout,
    List<Draft> tasks) {

  /**
   * A task with its nodes, for reports.
   *
   * @param dependsOn ids
   */
  record Draft(
      int index,
      Place place,
      Node node,
      String id,
      String type,
      List<Node.Scalar> dependsOn,
      Map<String, Node.Field> params,
      Duration timeout,
      RetryPolicy retry,
      int priority) {

    TaskSpec spec(List<Integer> dependencies) {
      Map<String, Template> templates = HashMap.newHashMap(params.size());
      params.forEach(
          (name, field) -> templates.put(name, new Template(JsonText.of(field.value()))));
      return new TaskSpec(index, id, type, dependencies, templates, timeout, retry, priority);
    }
  }

  Workflow workflow(Graph graph) {
    List<TaskSpec> specs =
        tasks.stream().map(draft -> draft.spec(graph.dependencies(draft.index()))).toList();
    return new Workflow(name, version, params, onFailure, timeout, specs);
  }
}
