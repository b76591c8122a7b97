package dev.baton.scheduler.simulation;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import dev.baton.scheduler.simulation.Invariant.Violation;
import dev.baton.workflow.Resolver;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.slf4j.LoggerFactory;

/** Runs seeds one after another, and says how a failed one is run again. */
final class Seeds {
  private final Resolver resolver;
  private final Coverage coverage = new Coverage();
  private final List<Failure> failures = new ArrayList<>();
  private long events;

  Seeds() {
    this(new Resolver());
  }

  /**
   * @param resolver of expressions, which others may use too
   */
  Seeds(Resolver resolver) {
    this.resolver = resolver;
  }

  /**
   * A seed that broke something.
   *
   * @param invariant null: an exception ended it
   */
  record Failure(long seed, @Nullable Invariant invariant, String what, List<String> lastLines) {
    /** What was violated, without the name of the class that says so. */
    String sentence() {
      return what.substring(what.indexOf(": ") + 2);
    }

    String report() {
      return """
      Seed %d: %s
      %s
      Run it again: ./baton test -o -pl scheduler-node -am -Dtest=SimulationTest -Dsurefire.failIfNoSpecifiedTests=false -Dbaton.simulation.seed=%d
      """
          .formatted(seed, what, String.join("\n", lastLines), seed);
    }
  }

  /** What all seeds so far have covered. */
  Coverage coverage() {
    return coverage;
  }

  List<Failure> failures() {
    return failures;
  }

  long events() {
    return events;
  }

  Simulation.Result runOrThrow(long seed) {
    Simulation.Result result = new Simulation(seed, resolver).run();
    coverage.add(result.coverage());
    events += result.events();
    return result;
  }

  /** Null: nothing was violated. */
  @Nullable Failure run(long seed, boolean wholeTrace) {
    Simulation simulation = new Simulation(seed, resolver);
    if (wholeTrace) {
      simulation.keepingTheWholeTrace();
    }
    try {
      Simulation.Result result = simulation.run();
      coverage.add(result.coverage());
      events += result.events();
      return null;
    } catch (Violation violation) {
      return failure(simulation, violation.invariant(), violation);
    } catch (RuntimeException | Error failure) {
      return failure(simulation, null, failure);
    }
  }

  private Failure failure(Simulation simulation, @Nullable Invariant invariant, Throwable thrown) {
    List<String> lines = new ArrayList<>(simulation.lastLines());
    if (invariant == null) {
      for (StackTraceElement element : thrown.getStackTrace()) {
        lines.add("    at " + element);
      }
    }
    Failure failure = new Failure(simulation.seed(), invariant, String.valueOf(thrown), lines);
    failures.add(failure);
    return failure;
  }

  /** Nodes that lose their leader a hundred times a second of our time have much to say. */
  static void silenceLogs(boolean silent) {
    if (LoggerFactory.getLogger("dev.baton") instanceof Logger logger) {
      logger.setLevel(silent ? Level.OFF : null);
    }
  }
}
