package dev.baton.workflow;

import java.time.Duration;
import java.util.Locale;

/**
 * Every limit on a definition, on the parameters of a run, and on expressions. A refusal names the
 * limit that it hit.
 */
public final class Limits {
  /** UTF-8 bytes of a definition's text. */
  public static final int TEXT_BYTES = 1 << 20;

  /** UTF-8 bytes of the canonical form: it repeats the defaults in every task. */
  public static final int CANONICAL_BYTES = 4 << 20;

  /** Bytes of the compressed canonical form, which must fit beside other keys in one write. */
  public static final int COMPRESSED_BYTES = 400 << 10;

  /** Lists and objects inside each other in a definition or in a run parameter. */
  public static final int DEPTH = 64;

  /** The same in the output of a task. */
  public static final int OUTPUT_DEPTH = 1_000;

  /** Characters of a number. */
  public static final int DIGITS = 1_000;

  public static final int TASKS = 10_000;

  /** Tasks that one task may name in {@code dependsOn}. */
  public static final int DEPENDENCIES_PER_TASK = TASKS - 1;

  /** All that the tasks of a workflow name in {@code dependsOn}, together. */
  public static final int DEPENDENCIES = 100_000;

  /** Parameters of a workflow, and of one task. */
  public static final int PARAMS = 256;

  /** UTF-8 bytes of one task's params as they stand, and of all parameters of a run. */
  public static final int PARAMS_BYTES = 256 << 10;

  /** Characters of the names of workflows and of versions. */
  public static final int NAME_LENGTH = 128;

  public static final int VERSION_LENGTH = 64;

  /** Characters of ids and types of tasks, and of names of parameters. */
  public static final int ID_LENGTH = 64;

  public static final int ATTEMPTS = 100;
  public static final int LOSSES = 100;

  /** The longest timeout or delay. */
  public static final Duration DURATION = Duration.ofDays(30);

  /** Problems in one report. */
  public static final int PROBLEMS = 20;

  /** Characters between <code>${{</code> and <code>}}</code>. */
  public static final int EXPRESSION_LENGTH = 1_000;

  /** Brackets inside each other in an expression. */
  public static final int EXPRESSION_NESTING = 24;

  /** Different expressions of a workflow that are more than a path to a value. */
  public static final int CALCULATIONS = 10_000;

  /** Rounds of all macros in one evaluation. */
  public static final int ITERATIONS = 10_000;

  /**
   * Steps that all expressions of one task may take together: a step is a node of an expression, a
   * member of a list that it builds or compares, or 32 characters of a text that it touches.
   */
  public static final int STEPS = 1_000_000;

  /** UTF-8 bytes that one expression may result in. */
  public static final int RESULT_BYTES = 256 << 10;

  /** UTF-8 bytes of all inputs of one attempt: an assignment of 512 KiB less its other fields. */
  public static final int INPUT_BYTES = 496 << 10;

  /** Characters of the outputs that the expressions of one task may read. */
  public static final int OUTPUTS_READ = 32 << 20;

  private Limits() {}

  /** A number of bytes as people write it. */
  static String bytes(int count) {
    if (count >= 1 << 20 && count % (1 << 20) == 0) {
      return (count >> 20) + " MiB";
    }
    return count >= 1 << 10 && count % (1 << 10) == 0 ? (count >> 10) + " KiB" : count + " bytes";
  }

  /** A count as people write it. */
  static String count(int count) {
    return String.format(Locale.ROOT, "%,d", count);
  }
}
