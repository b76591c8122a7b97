package dev.baton.workflow;

import com.google.common.primitives.UnsignedLong;
import com.google.protobuf.NullValue;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Between JSON and the Java types that CEL computes with. */
final class CelValues {
  /** Below this every whole number has a double of its own. */
  private static final double EXACT = 1L << 53;

  private CelValues() {}

  /** Whole numbers become integers if 64 bits hold them, all other numbers doubles. */
  static Object of(Node node) {
    return switch (node) {
      case Node.Scalar scalar ->
          switch (scalar.kind()) {
            case TEXT -> scalar.value();
            case BOOLEAN -> scalar.value().equals("true");
            case NULL -> NullValue.NULL_VALUE;
            case NUMBER -> number(scalar.value());
          };
      case Node.Items list -> {
        List<Object> items = new ArrayList<>(list.items().size());
        list.items().forEach(item -> items.add(of(item)));
        yield items;
      }
      case Node.Fields object -> {
        Map<String, Object> fields = LinkedHashMap.newLinkedHashMap(object.fields().size());
        object.fields().forEach((name, field) -> fields.put(name, of(field.value())));
        yield fields;
      }
    };
  }

  private static Object number(String digits) {
    if (digits.length() < 20 && digits.chars().allMatch(c -> c == '-' || Character.isDigit(c))) {
      try {
        return Long.parseLong(digits);
      } catch (NumberFormatException tooLarge) {
        return Double.parseDouble(digits);
      }
    }
    return Double.parseDouble(digits);
  }

  /** Appends JSON, at most as much as a result may be. */
  static void write(Object value, StringBuilder text) throws ExpressionException {
    if (text.length() > Limits.RESULT_BYTES) {
      throw new ExpressionException(tooLarge());
    }
    switch (value) {
      case NullValue none -> text.append("null");
      case Boolean bool -> text.append(bool);
      case Long whole -> text.append(whole);
      case UnsignedLong whole -> text.append(whole);
      case Double number -> text.append(number(number));
      case String string -> JsonText.quote(string, text);
      case Map<?, ?> map -> write(map, text);
      case Collection<?> list -> {
        String comma = "[";
        for (Object item : list) {
          text.append(comma);
          write(item, text);
          comma = ",";
        }
        text.append(list.isEmpty() ? "[]" : "]");
      }
      default ->
          throw new ExpressionException(
              "the result is a "
                  + kind(value)
                  + ", which JSON can't say; convert it with string()");
    }
  }

  private static void write(Map<?, ?> map, StringBuilder text) throws ExpressionException {
    Set<String> names = new HashSet<>();
    String comma = "{";
    for (Map.Entry<?, ?> entry : map.entrySet()) {
      String name =
          switch (entry.getKey()) {
            case String string -> string;
            case Number number -> number.toString();
            case Boolean bool -> bool.toString();
            default ->
                throw new ExpressionException(
                    "a key of the result is a "
                        + kind(entry.getKey())
                        + ", which JSON can't say; use text");
          };
      if (!names.add(name)) {
        throw new ExpressionException(
            "two keys of the result are " + Words.quoted(name) + " in JSON; keep one of them");
      }
      text.append(comma);
      JsonText.quote(name, text);
      text.append(':');
      write(entry.getValue(), text);
      comma = ",";
    }
    text.append(map.isEmpty() ? "{}" : "}");
  }

  /** As people write it: 2, not 2.0. */
  private static String number(double number) throws ExpressionException {
    if (Double.isNaN(number) || Double.isInfinite(number)) {
      throw new ExpressionException(
          "the result is " + number + ", which is no number in JSON; check its operands");
    }
    return number == Math.rint(number) && Math.abs(number) < EXACT
        ? Long.toString((long) number)
        : Double.toString(number);
  }

  private static String kind(Object value) {
    return switch (value) {
      case com.google.protobuf.Timestamp time -> "timestamp";
      case com.google.protobuf.Duration duration -> "duration";
      case com.google.protobuf.ByteString bytes -> "sequence of bytes";
      default -> "value of CEL alone";
    };
  }

  static String tooLarge() {
    return "the result is larger than the limit of "
        + Limits.bytes(Limits.RESULT_BYTES)
        + "; take a part of it";
  }
}
