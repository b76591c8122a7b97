package dev.baton.workflow;

import dev.cel.checker.CelStandardDeclarations;
import dev.cel.common.CelAbstractSyntaxTree;
import dev.cel.common.ast.CelConstant;
import dev.cel.common.ast.CelExpr;
import dev.cel.common.ast.CelExpr.ExprKind.Kind;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * Walks a parsed expression and finds what it names. Names must be constants, so that the scheduler
 * knows without evaluating it which outputs an expression needs. The parser bounds the depth of the
 * tree, so the walk may recurse.
 */
final class ExpressionAnalysis {
  static final String PARAMS = "params";
  static final String TASKS = "tasks";
  static final String OUTPUT = "output";

  private static final String INDEX = "_[_]";
  private static final Set<String> FUNCTIONS = functions();

  private final Set<String> params = new HashSet<>();
  private final Set<String> tasks = new HashSet<>();
  private final Set<String> variables = new HashSet<>();

  private ExpressionAnalysis() {}

  static Expression of(String text, CelAbstractSyntaxTree tree) throws ExpressionException {
    ExpressionAnalysis analysis = new ExpressionAnalysis();
    analysis.visit(tree.getExpr());
    return new Expression(text, tree, analysis.params, analysis.tasks, path(tree.getExpr()));
  }

  private static Set<String> functions() {
    Set<String> names = new TreeSet<>(CelStandardDeclarations.getAllFunctionNames());
    names.removeIf(name -> !Character.isLetter(name.charAt(0)));
    return Set.copyOf(names);
  }

  private void visit(CelExpr node) throws ExpressionException {
    List<Object> path = path(node);
    if (path != null && isInput(path.getFirst())) {
      name(path);
      return;
    }
    switch (node.getKind()) {
      case IDENT -> ident(node.ident().name());
      case SELECT -> select(node.select());
      case CALL -> call(node.call());
      case LIST -> visitAll(node.list().elements());
      case MAP -> {
        for (CelExpr.CelMap.Entry entry : node.map().entries()) {
          visit(entry.key());
          visit(entry.value());
        }
      }
      case COMPREHENSION -> comprehension(node.comprehension());
      case STRUCT ->
          throw new ExpressionException(
              "there is no type '" + node.struct().messageName() + "'; write a map: {'name': 1}");
      case CONSTANT, NOT_SET -> {}
    }
  }

  private void visitAll(Collection<CelExpr> nodes) throws ExpressionException {
    for (CelExpr node : nodes) {
      visit(node);
    }
  }

  /** One that {@link #path} doesn't take: a part of something made, or has(). */
  private void select(CelExpr.CelSelect select) throws ExpressionException {
    List<Object> path = path(select.operand());
    if (path != null && path.size() == 1 && isInput(path.getFirst())) {
      name(List.of(path.getFirst(), select.field()));
    } else {
      visit(select.operand());
    }
  }

  private void call(CelExpr.CelCall call) throws ExpressionException {
    String function = call.function();
    if (function.equals(INDEX)
        && call.args().getFirst().getKind() == Kind.IDENT
        && isInput(call.args().getFirst().ident().name())) {
      String root = call.args().getFirst().ident().name();
      throw new ExpressionException(
          root + "[…] takes a quoted name, known before the run: " + root + "[\"name\"]");
    }
    if (Character.isLetter(function.charAt(0)) && !FUNCTIONS.contains(function)) {
      throw new ExpressionException(
          "there is no function '"
              + Words.shorten(function, 40)
              + "' that takes this"
              + Words.didYouMean(function, FUNCTIONS, "; see the list in the documentation"));
    }
    if (call.target().isPresent()) {
      visit(call.target().get());
    }
    visitAll(call.args());
  }

  private void comprehension(CelExpr.CelComprehension loop) throws ExpressionException {
    visit(loop.iterRange());
    visit(loop.accuInit());
    List<String> added = new ArrayList<>();
    for (String variable : List.of(loop.iterVar(), loop.iterVar2(), loop.accuVar())) {
      if (variable.equals(PARAMS) || variable.equals(TASKS)) {
        throw new ExpressionException(
            "the variable of a macro may not be called " + variable + "; choose another name");
      }
      if (variables.add(variable)) {
        added.add(variable);
      }
    }
    visit(loop.loopCondition());
    visit(loop.loopStep());
    visit(loop.result());
    variables.removeAll(added);
  }

  private void ident(String name) throws ExpressionException {
    if (isInput(name)) {
      throw new ExpressionException(howToName(name));
    }
    if (!variables.contains(name)) {
      throw new ExpressionException(
          "there is no variable '"
              + Words.shorten(name, 40)
              + "'; write params.NAME, tasks.ID.output, or quote a text");
    }
  }

  /** No variable of a macro may hide one of the two. */
  private static boolean isInput(Object name) {
    return name.equals(PARAMS) || name.equals(TASKS);
  }

  private void name(List<Object> path) throws ExpressionException {
    Object root = path.getFirst();
    if (path.size() < 2 || !(path.get(1) instanceof String name)) {
      throw new ExpressionException(howToName(root));
    }
    if (root.equals(PARAMS)) {
      params.add(name);
      return;
    }
    if (path.size() < 3 || !path.get(2).equals(OUTPUT)) {
      throw new ExpressionException(
          "a task has nothing but its output here; write "
              + shownTask(name)
              + ".output, and a field behind it");
    }
    tasks.add(name);
  }

  private static String howToName(Object root) {
    return root.equals(PARAMS)
        ? "params is not a value; name one of its members: params.NAME"
        : "tasks is not a value; name a task: tasks.ID.output, or tasks[\"an-id\"].output";
  }

  static String shownTask(String id) {
    boolean plain = id.indexOf('-') < 0 && !Character.isDigit(id.charAt(0));
    return plain ? "tasks." + id : "tasks[\"" + id + "\"]";
  }

  /** Names and positions behind a variable; null if the node is anything else. */
  private static @Nullable List<Object> path(CelExpr node) {
    List<Object> steps = new ArrayList<>();
    CelExpr at = node;
    while (at.getKind() != Kind.IDENT) {
      if (at.getKind() == Kind.SELECT && !at.select().testOnly()) {
        steps.add(at.select().field());
        at = at.select().operand();
      } else if (at.getKind() == Kind.CALL && at.call().function().equals(INDEX)) {
        CelExpr key = at.call().args().getLast();
        if (key.getKind() != Kind.CONSTANT) {
          return null;
        }
        CelConstant constant = key.constant();
        switch (constant.getKind()) {
          case STRING_VALUE -> steps.add(constant.stringValue());
          case INT64_VALUE -> steps.add(constant.int64Value());
          default -> {
            return null;
          }
        }
        at = at.call().args().getFirst();
      } else {
        return null;
      }
    }
    steps.add(at.ident().name());
    return steps.reversed();
  }

  /** The name of an operator as people write it. */
  static String operator(String function) {
    return Character.isLetter(function.charAt(0))
        ? function + "()"
        : function.replaceAll("[_@]", "");
  }
}
