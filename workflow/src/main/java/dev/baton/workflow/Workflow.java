package dev.baton.workflow;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.OptionalInt;
import org.jspecify.annotations.Nullable;

/** A definition that broke no rule. Immutable. */
public final class Workflow {
  private final String name;
  private final String version;
  private final Map<String, Parameter> params;
  private final OnFailure onFailure;
  private final Duration timeout;
  private final List<TaskSpec> tasks;
  private final List<List<Integer>> dependants;
  private final Map<String, Integer> indices;

  /**
   * @param timeout of a whole run, from its creation; zero: none
   * @param tasks each at its index
   */
  public Workflow(
      String name,
      String version,
      Map<String, Parameter> params,
      OnFailure onFailure,
      Duration timeout,
      List<TaskSpec> tasks) {
    this.name = name;
    this.version = version;
    this.params = Map.copyOf(params);
    this.onFailure = onFailure;
    this.timeout = timeout;
    this.tasks = List.copyOf(tasks);
    this.indices = HashMap.newHashMap(tasks.size());
    List<List<Integer>> dependants = new ArrayList<>(tasks.size());
    for (TaskSpec task : tasks) {
      indices.put(task.id(), task.index());
      dependants.add(new ArrayList<>());
    }
    for (TaskSpec task : tasks) {
      for (int before : task.dependsOn()) {
        dependants.get(before).add(task.index());
      }
    }
    dependants.replaceAll(List::copyOf);
    this.dependants = List.copyOf(dependants);
  }

  public String name() {
    return name;
  }

  /** Empty if the definition has none. */
  public String version() {
    return version;
  }

  public Map<String, Parameter> params() {
    return params;
  }

  public OnFailure onFailure() {
    return onFailure;
  }

  public Duration timeout() {
    return timeout;
  }

  public List<TaskSpec> tasks() {
    return tasks;
  }

  public TaskSpec task(int index) {
    return tasks.get(index);
  }

  /** Indices of the tasks that depend on this one directly. */
  public List<Integer> dependants(int index) {
    return dependants.get(index);
  }

  public OptionalInt indexOf(String taskId) {
    Integer index = indices.get(taskId);
    return index == null ? OptionalInt.empty() : OptionalInt.of(index);
  }

  /**
   * The parameters of a run of this workflow.
   *
   * @param given JSON texts by name
   * @return a JSON object with every parameter of the workflow, names sorted
   */
  public Judged<String> bind(Map<String, String> given) {
    return new RunParameters(this).bind(given);
  }

  @Override
  public boolean equals(@Nullable Object other) {
    return other instanceof Workflow that
        && name.equals(that.name)
        && version.equals(that.version)
        && params.equals(that.params)
        && onFailure == that.onFailure
        && timeout.equals(that.timeout)
        && tasks.equals(that.tasks);
  }

  @Override
  public int hashCode() {
    return Objects.hash(name, version, params, onFailure, timeout, tasks);
  }

  @Override
  public String toString() {
    return "Workflow[" + name + ", " + tasks.size() + " tasks]";
  }
}
