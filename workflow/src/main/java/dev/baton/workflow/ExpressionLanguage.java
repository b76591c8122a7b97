package dev.baton.workflow;

import dev.cel.common.CelErrorCode;
import dev.cel.common.CelIssue;
import dev.cel.common.CelOptions;
import dev.cel.common.CelValidationException;
import dev.cel.common.CelValidationResult;
import dev.cel.common.ast.CelExpr;
import dev.cel.common.navigation.CelNavigableAst;
import dev.cel.common.types.MapType;
import dev.cel.common.types.SimpleType;
import dev.cel.compiler.CelCompiler;
import dev.cel.compiler.CelCompilerFactory;
import dev.cel.parser.CelStandardMacro;
import dev.cel.runtime.CelEvaluationException;
import dev.cel.runtime.CelRuntime;
import dev.cel.runtime.CelRuntimeFactory;
import java.util.HashSet;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * CEL, and nothing but CEL: parses, checks and runs expressions over {@code params} and {@code
 * tasks}. Any thread may use it. It remembers what it parsed and compiled, up to a bound, by text.
 */
final class ExpressionLanguage {
  /** Characters of the expressions that are remembered; a program takes up to 200 times as much. */
  private static final int REMEMBERED = 256 << 10;

  /** Deep enough for people; the walks over a tree recurse. */
  private static final int TREE_DEPTH = 100;

  private static final CelOptions OPTIONS =
      CelOptions.current()
          .comprehensionMaxIterations(Limits.ITERATIONS)
          .maxExpressionCodePointSize(Limits.EXPRESSION_LENGTH)
          .maxParseRecursionDepth(TREE_DEPTH)
          .maxParseErrorRecoveryLimit(5)
          .maxRegexProgramSize(200)
          .enableHiddenAccumulatorVar(true)
          .enableHeterogeneousNumericComparisons(true)
          .build();

  private static final Pattern EVALUATION_ERROR =
      Pattern.compile("evaluation error(?: at [^:]*:(\\d+))?: (.*)", Pattern.DOTALL);
  private static final Pattern NO_OVERLOAD =
      Pattern.compile(
          "found no matching overload for '(.*?)' applied to '(.*?)'.*", Pattern.DOTALL);
  private static final Pattern NO_OVERLOAD_AT_RUN_TIME =
      Pattern.compile("No matching overload for function '(.*?)'.*", Pattern.DOTALL);
  private static final Pattern NO_KEY = Pattern.compile("key ('.*') is not present in map\\.");
  private static final Pattern NO_OBJECT =
      Pattern.compile("Error resolving field ('.*?')\\. Field selections must .*");

  private final CelCompiler compiler;
  private final CelRuntime runtime;
  private final Map<String, Expression> remembered = new LinkedHashMap<>(16, 0.75f, true);
  private int rememberedCharacters;

  ExpressionLanguage() {
    MapType anything = MapType.create(SimpleType.STRING, SimpleType.DYN);
    this.compiler =
        CelCompilerFactory.standardCelCompilerBuilder()
            .setOptions(OPTIONS)
            .setStandardMacros(CelStandardMacro.STANDARD_MACROS)
            .addVar(ExpressionAnalysis.PARAMS, anything)
            .addVar(ExpressionAnalysis.TASKS, anything)
            .build();
    this.runtime = CelRuntimeFactory.standardCelRuntimeBuilder().setOptions(OPTIONS).build();
  }

  /** Parses it and finds what it names; types are not checked. Cheap: some microseconds. */
  Expression parse(String text) throws ExpressionException {
    synchronized (remembered) {
      Expression known = remembered.get(text);
      if (known != null) {
        return known;
      }
    }
    refuseUnreasonable(text);
    Expression parsed;
    try {
      CelValidationResult result = compiler.parse(text);
      parsed = ExpressionAnalysis.of(text, result.getAst());
    } catch (CelValidationException malformed) {
      throw new ExpressionException(syntaxError(malformed));
    }
    remember(parsed);
    return parsed;
  }

  private static void refuseUnreasonable(String text) throws ExpressionException {
    if (text.isEmpty()) {
      throw new ExpressionException("there is nothing between ${{ and }}; write an expression");
    }
    if (text.length() > Limits.EXPRESSION_LENGTH) {
      throw new ExpressionException(
          "it has "
              + Limits.count(text.length())
              + " characters, more than the limit of "
              + Limits.count(Limits.EXPRESSION_LENGTH)
              + "; do the work in a task");
    }
    // The parser recurses through some twenty methods for each bracket.
    int depth = 0;
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      depth += "([{".indexOf(c) >= 0 ? 1 : ")]}".indexOf(c) >= 0 ? -1 : 0;
      if (depth > Limits.EXPRESSION_NESTING) {
        throw new ExpressionException(
            "brackets stand more than " + Limits.EXPRESSION_NESTING + " deep inside each other");
      }
    }
  }

  private void remember(Expression parsed) {
    synchronized (remembered) {
      if (remembered.put(parsed.text(), parsed) == null) {
        rememberedCharacters += parsed.text().length();
      }
      Iterator<String> eldest = remembered.keySet().iterator();
      while (rememberedCharacters > REMEMBERED) {
        rememberedCharacters -= eldest.next().length();
        eldest.remove();
      }
    }
  }

  /** Checks the types, as far as they are known before the run: some 200 microseconds. */
  void check(Expression expression) throws ExpressionException {
    program(expression);
  }

  private Expression.Program program(Expression expression) throws ExpressionException {
    Optional<Expression.Program> known = expression.program();
    if (known.isPresent()) {
      return known.get();
    }
    try {
      CelRuntime.Program compiled =
          runtime.createProgram(compiler.check(expression.tree()).getAst());
      Expression.Program program =
          new Expression.Program(compiled, new HashSet<>(), new HashSet<>());
      CelNavigableAst.fromAst(expression.tree())
          .getRoot()
          .allNodes()
          .forEach(node -> noteCostly(node.expr(), program));
      expression.keep(program);
      return program;
    } catch (CelValidationException mistyped) {
      throw new ExpressionException(syntaxError(mistyped));
    } catch (CelEvaluationException | RuntimeException fault) {
      throw new ExpressionException("it can't be compiled: " + reason(fault));
    }
  }

  /** Finds the nodes whose values cost more than a step, whoever made them. */
  private static void noteCostly(CelExpr node, Expression.Program program) {
    if (node.getKind() == CelExpr.ExprKind.Kind.MAP) {
      node.map().entries().forEach(entry -> program.compared().add(entry.key().id()));
    } else if (node.getKind() == CelExpr.ExprKind.Kind.CALL) {
      CelExpr.CelCall call = node.call();
      switch (call.function()) {
        case "_==_", "_!=_", "@in" -> call.args().forEach(arg -> program.compared().add(arg.id()));
        case "matches" -> {
          call.args().forEach(arg -> program.matched().add(arg.id()));
          call.target().ifPresent(target -> program.matched().add(target.id()));
        }
        default -> {}
      }
    }
  }

  /**
   * Evaluates it.
   *
   * @param variables values of {@code params} and {@code tasks} in CEL's Java types
   * @return a value in CEL's Java types
   */
  Object evaluate(Expression expression, Map<String, Object> variables, Allowance allowance)
      throws ExpressionException {
    Expression.Program program = program(expression);
    try {
      return program
          .program()
          .trace(variables, (node, value) -> allowance.charge(program, node, value));
    } catch (CelEvaluationException failure) {
      throw new ExpressionException(evaluationError(failure, expression.text()));
    } catch (RuntimeException fault) {
      throw new ExpressionException(reason(fault));
    }
  }

  private static String syntaxError(CelValidationException malformed) {
    Optional<CelIssue> first = malformed.getErrors().stream().findFirst();
    if (first.isEmpty()) {
      return reason(malformed);
    }
    String text = first.get().getMessage();
    Matcher overload = NO_OVERLOAD.matcher(text);
    if (overload.matches()) {
      return cannotApply(overload.group(1), " to " + Words.shorten(overload.group(2), 60));
    }
    if (text.contains("recursion limit exceeded")) {
      return "it stands more than " + TREE_DEPTH + " deep inside itself; make it smaller";
    }
    int column = first.get().getSourceLocation().getColumn() + 1;
    String plain =
        text.replaceAll(" expecting .*", "")
            .replaceAll(" \\(in container .*", "")
            .replaceAll("<EOF>", "its end")
            .replaceAll("no viable alternative at input", "it makes no sense from")
            .replaceAll("mismatched input", "unexpected:")
            .replaceAll("extraneous input", "unexpected:");
    return "it is no CEL expression: "
        + Words.shorten(plain, 160)
        + " at character "
        + column
        + "; see the rules for expressions";
  }

  private static String evaluationError(CelEvaluationException failure, String expression) {
    for (Throwable cause = failure.getCause(); cause != null; cause = cause.getCause()) {
      if (cause instanceof Allowance.UsedUpException) {
        return String.valueOf(cause.getMessage());
      }
    }
    if (failure.getErrorCode() == CelErrorCode.ITERATION_BUDGET_EXCEEDED) {
      return "its macros take more than the limit of "
          + Limits.count(Limits.ITERATIONS)
          + " rounds; do the work in a task";
    }
    if (failure.getErrorCode() == CelErrorCode.DIVIDE_BY_ZERO) {
      return "division by zero";
    }
    Matcher error = EVALUATION_ERROR.matcher(String.valueOf(failure.getMessage()));
    if (!error.matches()) {
      return reason(failure);
    }
    @Nullable String position = error.group(1);
    String text = String.valueOf(error.group(2));
    Matcher overload = NO_OVERLOAD_AT_RUN_TIME.matcher(text);
    if (overload.matches()) {
      return cannotApply(String.valueOf(overload.group(1)), " to values of these types");
    }
    String plain =
        Words.shorten(
            NO_KEY
                .matcher(NO_OBJECT.matcher(text).replaceAll("there is no object to take $1 from"))
                .replaceAll("no such field $1"),
            200);
    boolean known = position != null && Integer.parseInt(position) < expression.length();
    return known ? plain + " at character " + (Integer.parseInt(position) + 1) : plain;
  }

  private static String cannotApply(@Nullable String function, String types) {
    if ("_?_:_".equals(function)) {
      return "both sides of ?: must be of one type; put the first into dyn()";
    }
    return "can't apply "
        + ExpressionAnalysis.operator(String.valueOf(function))
        + types
        + "; convert one with string(), int() or double()";
  }

  private static String reason(Throwable fault) {
    return Words.shorten(String.valueOf(fault.getMessage()), 200);
  }
}
