package dev.baton.it;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.baton.proto.v1.SubmitRunRequest;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** A workflow definition in the making. */
final class Flow {
  private static final JsonMapper JSON = JsonMapper.builder().build();

  private final Map<String, Object> fields = new LinkedHashMap<>();
  private final List<Map<String, Object>> tasks = new ArrayList<>();

  private Flow(String name) {
    fields.put("name", name);
  }

  static Flow named(String name) {
    return new Flow(name);
  }

  /** As many tasks that wait for the scene's gate. */
  static Flow gated(String name, int count, Scene scene) {
    Flow flow = named(name);
    for (int i = 0; i < count; i++) {
      flow.shell("g" + i, Scene.gated(), scene);
    }
    return flow;
  }

  /** As many tasks, each after the one before it, that only note that they ran. */
  static Flow chain(String name, int count, Scene scene) {
    Flow flow = named(name);
    for (int i = 0; i < count; i++) {
      String[] before = i == 0 ? new String[0] : new String[] {"c" + (i - 1)};
      flow.shell("c" + i, Scene.noted(":"), scene, before);
    }
    return flow;
  }

  /** A field beside the tasks, such as {@code onFailure}. */
  Flow with(String field, Object value) {
    fields.put(field, value);
    return this;
  }

  Flow task(String id, String type, Map<String, ?> params, String... dependsOn) {
    Map<String, Object> task = new LinkedHashMap<>();
    task.put("id", id);
    task.put("type", type);
    task.put("params", params);
    task.put("dependsOn", List.of(dependsOn));
    tasks.add(task);
    return this;
  }

  Flow shell(String id, String command, Scene scene, String... dependsOn) {
    return task(id, "shell", Map.of("command", command, "env", scene.env()), dependsOn);
  }

  /** A field of the task that was added last, such as {@code retry}. */
  Flow taskWith(String field, Object value) {
    tasks.getLast().put(field, value);
    return this;
  }

  String json() {
    Map<String, Object> all = new LinkedHashMap<>(fields);
    all.put("tasks", tasks);
    try {
      return JSON.writeValueAsString(all);
    } catch (JsonProcessingException e) {
      throw new IllegalStateException(e);
    }
  }

  SubmitRunRequest request() {
    return SubmitRunRequest.newBuilder().setDefinition(json()).build();
  }
}
