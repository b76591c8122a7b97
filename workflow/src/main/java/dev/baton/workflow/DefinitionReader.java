package dev.baton.workflow;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Takes a definition's fields out of its nodes: the schema. */
final class DefinitionReader {
  private static final List<String> FIELDS =
      List.of("name", "version", "params", "defaults", "onFailure", "timeout", "tasks");
  private static final List<String> DEFAULTS_FIELDS = List.of("timeout", "retry", "priority");
  private static final List<String> TASK_FIELDS =
      List.of("id", "type", "dependsOn", "params", "timeout", "retry", "priority");
  private static final List<String> RETRY_FIELDS =
      List.of("attempts", "delay", "maxDelay", "finalOn", "maxLosses");

  private static final Pattern NAME =
      Pattern.compile("[A-Za-z0-9._-]{1," + Limits.NAME_LENGTH + "}");
  private static final Pattern VERSION =
      Pattern.compile("\\P{Cntrl}{1," + Limits.VERSION_LENGTH + "}");
  private static final Pattern TASK_ID =
      Pattern.compile("[A-Za-z0-9_-]{1," + Limits.ID_LENGTH + "}");
  private static final Pattern TASK_TYPE =
      Pattern.compile("[A-Za-z0-9._-]{1," + Limits.ID_LENGTH + "}");
  static final Pattern RUN_PARAM =
      Pattern.compile("[A-Za-z_][A-Za-z0-9_]{0," + (Limits.ID_LENGTH - 1) + "}");
  private static final Pattern TASK_PARAM =
      Pattern.compile("[A-Za-z_][A-Za-z0-9._-]{0," + (Limits.NAME_LENGTH - 1) + "}");

  private static final String NAME_RULE =
      "1 to " + Limits.NAME_LENGTH + " letters, digits, and . _ -";
  private static final String VERSION_RULE =
      "1 to " + Limits.VERSION_LENGTH + " characters, no control characters";
  private static final String TASK_ID_RULE =
      "1 to " + Limits.ID_LENGTH + " letters, digits, and _ -";
  private static final String TASK_TYPE_RULE =
      "1 to " + Limits.ID_LENGTH + " letters, digits, and . _ -";
  private static final String RUN_PARAM_RULE =
      "a letter or _, then up to " + (Limits.ID_LENGTH - 1) + " letters, digits, and _";
  private static final String TASK_PARAM_RULE =
      "a letter or _, then up to " + (Limits.NAME_LENGTH - 1) + " letters, digits, and . _ -";

  private final Problems problems;

  DefinitionReader(Problems problems) {
    this.problems = problems;
  }

  Definition read(Node root) {
    Section section = new Section(root, Place.ROOT, problems, FIELDS);
    String name = section.required("name", NAME, NAME_RULE);
    String version = section.text("version", VERSION, VERSION_RULE);
    Map<String, Parameter> params = params(section);
    TaskDefaults defaults =
        taskDefaults(
            new Section(
                section.get("defaults"), Place.ROOT.field("defaults"), problems, DEFAULTS_FIELDS),
            new TaskDefaults(Duration.ZERO, RetryPolicy.DEFAULT, 5));
    OnFailure onFailure = section.oneOf("onFailure", OnFailure.class, OnFailure.FINISH);
    Duration timeout = section.duration("timeout", Duration.ZERO);
    return new Definition(
        name,
        version == null ? "" : version,
        params,
        onFailure,
        timeout,
        tasks(section, root, defaults));
  }

  private Map<String, Parameter> params(Section section) {
    Map<String, Parameter> params = new HashMap<>();
    fieldsOf(section, "params", RUN_PARAM, RUN_PARAM_RULE)
        .forEach((name, field) -> params.put(name, param(name, field.value())));
    return params;
  }

  private Parameter param(String name, Node value) {
    Place place = Place.ROOT.field("params").field(name);
    if (value instanceof Node.Fields object
        && object.fields().keySet().equals(Set.of("required"))) {
      problems.add(
          place,
          value,
          () -> "a parameter without a default is written " + name + ": and nothing after it");
    }
    String json = JsonText.of(value);
    if (json.contains(TemplateText.OPEN)) {
      problems.add(
          place,
          value,
          () ->
              "a default is not evaluated, so it may not hold ${{; put the expression into the"
                  + " params of the tasks that need it");
    }
    return new Parameter(name, value.isNull() ? null : json);
  }

  /** What tasks that say nothing else have. */
  private record TaskDefaults(Duration timeout, RetryPolicy retry, int priority) {}

  private TaskDefaults taskDefaults(Section section, TaskDefaults otherwise) {
    return new TaskDefaults(
        section.duration("timeout", otherwise.timeout()),
        retry(
            new Section(
                section.get("retry"), section.place().field("retry"), problems, RETRY_FIELDS),
            otherwise.retry()),
        section.integer("priority", 1, 10, otherwise.priority()));
  }

  private RetryPolicy retry(Section section, RetryPolicy otherwise) {
    Duration first = section.duration("delay", otherwise.firstDelay());
    Duration longest = section.duration("maxDelay", otherwise.longestDelay());
    if (longest.compareTo(first) < 0) {
      Node given = section.get("maxDelay");
      if (given != null) {
        section.report(
            "maxDelay",
            given,
            () ->
                Durations.format(longest)
                    + " is shorter than the delay of "
                    + Durations.format(first)
                    + "; it must be at least as long");
      }
    }
    Set<RetryPolicy.Failure> finalOn = section.setOf("finalOn", RetryPolicy.Failure.class);
    return new RetryPolicy(
        section.integer("attempts", 1, Limits.ATTEMPTS, otherwise.attempts()),
        first,
        longest.compareTo(first) < 0 ? first : longest,
        finalOn == null ? otherwise.finalOn() : finalOn,
        section.integer("maxLosses", 0, Limits.LOSSES, otherwise.maxLosses()));
  }

  private List<Definition.Draft> tasks(Section section, Node root, TaskDefaults defaults) {
    Node node = section.get("tasks");
    Place place = Place.ROOT.field("tasks");
    List<Definition.Draft> drafts = new ArrayList<>();
    if (node instanceof Node.Items list && !list.items().isEmpty()) {
      if (list.items().size() > Limits.TASKS) {
        problems.add(
            place,
            node,
            () ->
                "there are "
                    + Limits.count(list.items().size())
                    + " tasks, more than the limit of "
                    + Limits.count(Limits.TASKS)
                    + "; split the workflow");
        return List.of();
      }
      for (Node task : list.items()) {
        drafts.add(task(drafts.size(), task, place.item(drafts.size()), defaults));
      }
    } else if (root instanceof Node.Fields) {
      problems.add(
          place,
          node == null ? root : node,
          () ->
              node instanceof Node.Items || node == null
                  ? "a workflow needs at least one task; list them under tasks, each with id and"
                      + " type"
                  : "expected a list of tasks, but found " + node.kindName());
    }
    return drafts;
  }

  private Definition.Draft task(int index, Node node, Place place, TaskDefaults workflowDefaults) {
    if (node.isNull()) {
      problems.add(place, node, () -> "the task is empty; give it id and type, or remove it");
      return new Definition.Draft(
          index, place, node, "", "", List.of(), Map.of(), Duration.ZERO, RetryPolicy.DEFAULT, 5);
    }
    Section section = new Section(node, place, problems, TASK_FIELDS);
    String id = section.required("id", TASK_ID, TASK_ID_RULE);
    String type = section.required("type", TASK_TYPE, TASK_TYPE_RULE);
    Map<String, Node.Field> params = fieldsOf(section, "params", TASK_PARAM, TASK_PARAM_RULE);
    checkSize(section, params);
    TaskDefaults own = taskDefaults(section, workflowDefaults);
    return new Definition.Draft(
        index,
        place,
        node,
        id,
        type,
        dependsOn(section),
        params,
        own.timeout(),
        own.retry(),
        own.priority());
  }

  private List<Node.Scalar> dependsOn(Section section) {
    Node node = section.get("dependsOn");
    List<Node.Scalar> ids = new ArrayList<>();
    if (node instanceof Node.Items list) {
      if (list.items().size() > Limits.DEPENDENCIES_PER_TASK) {
        section.report(
            "dependsOn",
            node,
            () ->
                "the task names "
                    + Limits.count(list.items().size())
                    + " tasks, more than the limit of "
                    + Limits.count(Limits.DEPENDENCIES_PER_TASK)
                    + "; name each only once");
        return List.of();
      }
      for (int i = 0; i < list.items().size(); i++) {
        Node item = list.items().get(i);
        if (item instanceof Node.Scalar scalar && scalar.kind() != Node.Kind.NULL) {
          ids.add(scalar);
        } else {
          problems.add(
              section.place().field("dependsOn").item(i),
              item,
              () -> "expected the id of a task, but found " + item.kindName());
        }
      }
    } else if (node != null) {
      section.report(
          "dependsOn",
          node,
          () ->
              "expected a list of ids, but found "
                  + node.kindName()
                  + "; write it as [first, second]");
    }
    return ids;
  }

  private void checkSize(Section section, Map<String, Node.Field> params) {
    StringBuilder json = new StringBuilder();
    params.forEach((name, field) -> {
      json.append(name);
      JsonText.write(field.value(), json);
    });
    Node node = section.get("params");
    int size = JsonText.utf8Length(json);
    if (node != null && size > Limits.PARAMS_BYTES) {
      section.report(
          "params",
          node,
          () ->
              "the params have "
                  + Limits.count(size)
                  + " bytes, more than the limit of "
                  + Limits.bytes(Limits.PARAMS_BYTES)
                  + " for a task; give the place of the data instead");
    }
  }

  /** The fields of an object whose names users choose. */
  private Map<String, Node.Field> fieldsOf(
      Section section, String name, Pattern shape, String rule) {
    @Nullable Node node = section.get(name);
    Place place = section.place().field(name);
    if (!(node instanceof Node.Fields object)) {
      if (node != null) {
        problems.add(
            place,
            node,
            () -> "expected an object, but found " + node.kindName() + "; names: " + rule);
      }
      return Map.of();
    }
    if (object.fields().size() > Limits.PARAMS) {
      problems.add(
          place,
          object,
          () ->
              "there are "
                  + Limits.count(object.fields().size())
                  + " params, more than the limit of "
                  + Limits.PARAMS
                  + "; put several into one list or object");
      return Map.of();
    }
    object
        .fields()
        .forEach((field, value) -> {
          if (!shape.matcher(field).matches()) {
            problems.add(
                place.field(field),
                value.line(),
                value.column(),
                () -> Words.quoted(field) + " is not allowed as a name; names are " + rule);
          }
        });
    return object.fields();
  }
}
