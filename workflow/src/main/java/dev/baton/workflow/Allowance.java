package dev.baton.workflow;

import com.google.protobuf.ByteString;
import dev.cel.common.ast.CelExpr;
import dev.cel.common.ast.CelExpr.ExprKind.Kind;
import java.util.Collection;
import java.util.Map;

/**
 * Steps that are left for the expressions of one task. It hears of the value of every node that is
 * evaluated, so nothing can run long or grow large for more than one step: not a macro in a macro,
 * not a text that is doubled again and again, not lists that hold the same list many times over (a
 * comparison would walk them as if they were many).
 */
final class Allowance {
  private static final int CHARACTERS_PER_STEP = 32;
  private static final String ACCUMULATOR = "@result";

  private long left = Limits.STEPS;

  /** Thrown through CEL, which wraps it. */
  static final class UsedUpException extends RuntimeException {
    private static final long serialVersionUID = 1;

    UsedUpException(String message) {
      super(message, null, false, false);
    }
  }

  void charge(Expression.Program program, CelExpr node, Object value) {
    long steps = 1;
    int length = length(value);
    if (length > Limits.RESULT_BYTES) {
      throw new UsedUpException(
          "it makes a text of more than "
              + Limits.bytes(Limits.RESULT_BYTES)
              + "; make it smaller");
    }
    if (length > 0) {
      // A regular expression looks at a character many times.
      steps += length / (program.matched().contains(node.id()) ? 1 : CHARACTERS_PER_STEP);
    } else if (isMade(node) || program.compared().contains(node.id())) {
      steps += weight(value, left);
    }
    spend(steps);
  }

  private void spend(long steps) {
    left -= steps;
    if (left < 0) {
      throw new UsedUpException(
          "the expressions of the task take more than "
              + Limits.count(Limits.STEPS)
              + " steps; do less in them, or do it in a task");
    }
  }

  private static int length(Object value) {
    return switch (value) {
      case CharSequence text -> text.length();
      case ByteString bytes -> bytes.size();
      default -> 0;
    };
  }

  /** Whether the node makes a list or map, instead of only handing one on. */
  private static boolean isMade(CelExpr node) {
    Kind kind = node.getKind();
    if (kind == Kind.CALL && node.call().function().equals("_+_")) {
      // A macro appends to its result; what it appends has been charged.
      CelExpr first = node.call().args().getFirst();
      return first.getKind() != Kind.IDENT || !first.ident().name().equals(ACCUMULATOR);
    }
    return kind == Kind.LIST || kind == Kind.MAP || kind == Kind.COMPREHENSION;
  }

  /** Members, counted as often as a walk would meet them; it stops above the limit. */
  private static long weight(Object value, long limit) {
    Collection<?> members;
    if (value instanceof Map<?, ?> map) {
      members = map.values();
    } else if (value instanceof Collection<?> collection) {
      members = collection;
    } else {
      return length(value) / CHARACTERS_PER_STEP;
    }
    long weight = members.size();
    for (Object member : members) {
      if (weight > limit) {
        break;
      }
      weight += weight(member, limit - weight);
    }
    return weight;
  }
}
