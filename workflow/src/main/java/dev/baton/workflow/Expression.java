package dev.baton.workflow;

import dev.cel.common.CelAbstractSyntaxTree;
import dev.cel.runtime.CelRuntime;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * An expression that was parsed, and what it names. Most are only a path to a value: these are
 * walked and need no program, and their value is passed on digit by digit.
 */
final class Expression {
  private final String text;
  private final CelAbstractSyntaxTree tree;
  private final Set<String> params;
  private final Set<String> tasks;
  private final @Nullable List<Object> path;
  private volatile @Nullable Program program;

  /**
   * @param params names of the run's parameters that it reads
   * @param tasks ids of the tasks whose outputs it reads
   * @param path names (String) and positions (Long) from {@code params} or {@code tasks} on; null
   *     if it is more than that
   */
  Expression(
      String text,
      CelAbstractSyntaxTree tree,
      Set<String> params,
      Set<String> tasks,
      @Nullable List<Object> path) {
    this.text = text;
    this.tree = tree;
    this.params = Set.copyOf(params);
    this.tasks = Set.copyOf(tasks);
    this.path = path == null ? null : List.copyOf(path);
  }

  /**
   * What evaluates it.
   *
   * @param compared ids of the nodes whose values are compared as a whole
   * @param matched ids of the nodes that go through a regular expression
   */
  record Program(CelRuntime.Program program, Set<Long> compared, Set<Long> matched) {}

  String text() {
    return text;
  }

  CelAbstractSyntaxTree tree() {
    return tree;
  }

  Set<String> params() {
    return params;
  }

  Set<String> tasks() {
    return tasks;
  }

  Optional<List<Object>> path() {
    return Optional.ofNullable(path);
  }

  Optional<Program> program() {
    return Optional.ofNullable(program);
  }

  void keep(Program made) {
    program = made;
  }

  /** For a sentence. */
  static String shown(String text) {
    return text.isEmpty() ? "${{ }}" : "${{ " + Words.shorten(text, 120) + " }}";
  }
}
