package dev.baton.workflow;

import static dev.baton.workflow.Definitions.READER;
import static dev.baton.workflow.Definitions.RESOLVER;
import static dev.baton.workflow.Definitions.accepted;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Expressions made to run long, to grow large, or to overflow the stack. Each takes well under a
 * second on an idle machine; all run on small stacks, so that no thread that evaluates is at risk.
 */
@Timeout(20)
class ExpressionAttackTest {
  private static final long STACK_BYTES = 512 << 10;
  private static final String LIST =
      IntStream.range(0, 9_000).boxed().toList().toString().replace(" ", "");

  /** Ends in a refusal, by the rules or when it is evaluated, that holds the sentence. */
  record Attack(String expression, String sentence) {}

  static List<Attack> attacks() {
    String steps = "the expressions of the task take more than 1,000,000 steps";
    String rounds = "its macros take more than the limit of 10,000 rounds";
    return List.of(
        new Attack("['ab']" + ".map(a, a + a)".repeat(60), "it makes a text of more than 256 KiB"),
        new Attack("[b'ab']" + ".map(a, a + a)".repeat(60), ""),
        new Attack("[[1]]" + ".map(a, a + a)".repeat(60), steps),
        new Attack("[1]" + ".map(a, [a, a])".repeat(40), steps),
        new Attack("[1]" + ".map(a, {'k': a, 'l': a})".repeat(30), steps),
        new Attack("[1]" + ".map(a, [a, a])".repeat(30) + " == []", ""),
        new Attack("[params.s]" + ".map(a, [a, a])".repeat(2), "the result is larger than the"),
        new Attack("params.l.map(x, params.l.map(y, y))", rounds),
        new Attack("params.l.exists(x, params.l.exists(y, y == -1))", rounds),
        new Attack("params.l.map(x, x)" + ".map(x, x)".repeat(50), rounds),
        new Attack("params.l.map(x, params.s + params.s)", steps),
        new Attack("params.l.filter(x, params.s.contains('zz'))", steps),
        new Attack("params.l.filter(x, params.s.matches('(x*)*y'))", steps),
        new Attack("params.l.filter(x, params.l == params.m)", steps),
        new Attack("params.l.filter(x, -1 in params.l)", steps),
        new Attack("params.l.map(x, {params.l: 1})", steps),
        new Attack("params.l.map(x, params.l + params.l)", steps),
        new Attack("params.l.map(x, [params.l])", ""),
        new Attack("params.l.map(x, params.l)", steps),
        new Attack("params.s.matches('(a{99}){99}')", "Regex pattern exceeds allowed program size"),
        new Attack("(".repeat(300) + "1" + ")".repeat(300), "more than 24 deep"),
        new Attack("[".repeat(300) + "1" + "]".repeat(300), "more than 24 deep"),
        new Attack("1" + " + 1".repeat(200), "more than 100 deep inside itself"),
        new Attack("params.s" + ".a".repeat(400), "more than 100 deep inside itself"),
        new Attack("params.l" + "[0]".repeat(300), "more than 100 deep inside itself"),
        new Attack("-".repeat(991) + "1 ? 1 : 2", ""),
        new Attack("1".repeat(1_001), "1,001 characters, more than the limit of 1,000"));
  }

  @ParameterizedTest
  @MethodSource("attacks")
  void shouldEndSoonAndSmall(Attack attack) throws Exception {
    String outcome = onSmallStack(attack.expression());

    assertTrue(outcome.startsWith("refused: "), outcome);
    assertTrue(
        outcome.contains(attack.sentence()),
        () -> "Expected " + attack.sentence() + " in " + Words.shorten(outcome, 2_000));
    assertTrue(outcome.length() < 1_500, outcome);
  }

  static Stream<String> deep() {
    return Stream.of(
        "[".repeat(24) + "1" + "]".repeat(24),
        "(1 + ".repeat(24) + "1" + ")".repeat(24),
        "{1:".repeat(24) + "1" + "}".repeat(24),
        "[1].map(x, ".repeat(23) + "1" + ")".repeat(23),
        "-(".repeat(24) + "1" + ")".repeat(24),
        "1" + "+1".repeat(90),
        "-".repeat(990) + "1",
        "true ? 1 : ".repeat(90) + "1",
        "true" + "&&true".repeat(150));
  }

  @ParameterizedTest
  @MethodSource("deep")
  void shouldEvaluateWhatIsJustNotTooDeep(String expression) throws Exception {
    String outcome = onSmallStack(expression);

    assertTrue(outcome.startsWith("accepted: "), outcome);
  }

  @Test
  void shouldShareTheStepsAmongTheExpressionsOfATask() throws Exception {
    String loop = "params.l.filter(x, x < 0)";

    assertTrue(onSmallStack(loop).startsWith("accepted: "));
    String outcome = onSmallStack(loop + "}}${{ ".repeat(1) + loop + (" }}${{ " + loop).repeat(30));
    assertTrue(outcome.contains("more than 1,000,000 steps"), outcome);
  }

  static Stream<Long> seeds() {
    return Stream.iterate(1L, seed -> seed + 1).limit(20);
  }

  /** Whatever is put between the braces, only the one exception comes out. */
  @ParameterizedTest
  @MethodSource("seeds")
  void shouldThrowNothingElse(long seed) throws Exception {
    Random random = new Random(seed);
    List<String> words =
        List.of(
            "params",
            ".l",
            ".s",
            ".m",
            "tasks",
            "[",
            "]",
            "(",
            ")",
            "{",
            "}",
            ":",
            ",",
            "1",
            "2.5",
            "'a'",
            "\"b\"",
            "null",
            "true",
            "+",
            "-",
            "*",
            "/",
            "%",
            "==",
            "<",
            " in ",
            "!",
            "?",
            "&&",
            "||",
            ".map(x, x)",
            ".size()",
            "x",
            "size(",
            "has(",
            "\\",
            "`",
            "\u00e4",
            " ",
            "int(",
            "string(",
            "duration('1h')",
            "b'x'",
            "7u",
            ".exists(x, x == 1)",
            "[0]");
    for (int i = 0; i < 50; i++) {
      StringBuilder expression = new StringBuilder(random.nextBoolean() ? "params.l" : "");
      for (int length = random.nextInt(12); length >= 0; length--) {
        expression.append(words.get(random.nextInt(words.size())));
      }
      String outcome = outcome(expression.toString());
      assertTrue(
          outcome.startsWith("accepted: ") || outcome.startsWith("refused: "),
          () -> "seed " + seed + ": " + expression + ": " + outcome);
    }
  }

  private static String onSmallStack(String expression) throws Exception {
    FutureTask<String> task = new FutureTask<>(() -> outcome(expression));
    Thread thread = new Thread(null, task, "small stack", STACK_BYTES);
    thread.start();
    return task.get(15, TimeUnit.SECONDS);
  }

  private static String outcome(String expression) {
    StringBuilder quoted = new StringBuilder();
    JsonText.quote("${{ " + expression + " }}", quoted);
    Judged<Workflow> judged =
        READER.read(
            "{\"name\":\"a\",\"params\":{\"l\":null,\"m\":null,\"s\":null},\"tasks\":[{\"id\":\"x\","
                + "\"type\":\"t\",\"params\":{\"value\":"
                + quoted
                + "}}]}");
    return switch (judged) {
      case Judged.Refused<Workflow> refused -> "refused: " + refused.report();
      case Judged.Accepted<Workflow>(Workflow workflow) -> evaluate(workflow);
    };
  }

  private static String evaluate(Workflow workflow) {
    String params =
        accepted(
            workflow.bind(Map.of("l", LIST, "m", LIST, "s", "\"" + "x".repeat(100_000) + "\"")));
    assertEquals(1, workflow.tasks().size());
    try {
      return "accepted: "
          + Words.shorten(
              RESOLVER.resolve(workflow, workflow.task(0), params, task -> "").toString(), 100);
    } catch (ExpressionException refused) {
      return "refused: " + refused.getMessage();
    }
  }
}
