package dev.baton.workflow;

import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** A task of a workflow. Immutable. */
public final class TaskSpec {
  private final int index;
  private final String id;
  private final String type;
  private final List<Integer> dependsOn;
  private final Map<String, Template> params;
  private final Duration timeout;
  private final RetryPolicy retry;
  private final int priority;
  private final @Nullable Map<String, String> constants;

  /**
   * @param index its place in {@link Workflow#tasks}
   * @param dependsOn indices of the tasks that must have succeeded
   * @param params by name
   * @param timeout of one attempt, from the start of its handler; zero: none
   * @param priority 1 to 10, 10 first
   */
  public TaskSpec(
      int index,
      String id,
      String type,
      List<Integer> dependsOn,
      Map<String, Template> params,
      Duration timeout,
      RetryPolicy retry,
      int priority) {
    this.index = index;
    this.id = id;
    this.type = type;
    this.dependsOn = List.copyOf(dependsOn);
    this.params = Map.copyOf(params);
    this.timeout = timeout;
    this.retry = retry;
    this.priority = priority;
    this.constants = constants(this.params);
  }

  private static @Nullable Map<String, String> constants(Map<String, Template> params) {
    Map<String, String> texts = HashMap.newHashMap(params.size());
    for (Map.Entry<String, Template> param : params.entrySet()) {
      if (!param.getValue().isConstant()) {
        return null;
      }
      texts.put(param.getKey(), param.getValue().json());
    }
    return Map.copyOf(texts);
  }

  public int index() {
    return index;
  }

  public String id() {
    return id;
  }

  public String type() {
    return type;
  }

  public List<Integer> dependsOn() {
    return dependsOn;
  }

  public Map<String, Template> params() {
    return params;
  }

  public Duration timeout() {
    return timeout;
  }

  public RetryPolicy retry() {
    return retry;
  }

  public int priority() {
    return priority;
  }

  /**
   * The params as JSON texts by name, the same map at every call; empty if there is an expression
   * in one of them, which {@link Resolver} must evaluate for each attempt.
   */
  public Optional<Map<String, String>> constants() {
    return Optional.ofNullable(constants);
  }

  @Override
  public boolean equals(@Nullable Object other) {
    return other instanceof TaskSpec that
        && index == that.index
        && priority == that.priority
        && id.equals(that.id)
        && type.equals(that.type)
        && dependsOn.equals(that.dependsOn)
        && params.equals(that.params)
        && timeout.equals(that.timeout)
        && retry.equals(that.retry);
  }

  @Override
  public int hashCode() {
    return Objects.hash(index, id, type, dependsOn, params, timeout, retry, priority);
  }

  @Override
  public String toString() {
    return "TaskSpec[" + index + ", " + id + ", " + type + "]";
  }
}
