package dev.baton.workflow;

import java.util.ArrayList;
import java.util.List;

/** A text of a definition, cut into what stands for itself and what is evaluated. */
final class TemplateText {
  static final String OPEN = "${{";
  private static final String CLOSE = "}}";

  private TemplateText() {}

  /**
   * @param text as it stands, or the expression between the braces, without space around it
   */
  record Piece(boolean isExpression, String text) {}

  /** Not empty unless the text is; <code>$${{</code> becomes that text without the first dollar. */
  static List<Piece> split(String text) throws ExpressionException {
    List<Piece> pieces = new ArrayList<>();
    StringBuilder literal = new StringBuilder();
    int from = 0;
    for (int at = text.indexOf(OPEN); at >= 0; at = text.indexOf(OPEN, from)) {
      if (at > from && text.charAt(at - 1) == '$') {
        literal.append(text, from, at - 1).append(OPEN);
        from = at + OPEN.length();
        continue;
      }
      literal.append(text, from, at);
      if (!literal.isEmpty()) {
        pieces.add(new Piece(false, literal.toString()));
        literal.setLength(0);
      }
      int start = at + OPEN.length();
      int end = end(text, start);
      if (end < 0) {
        throw new ExpressionException(
            Words.quoted(text.substring(at))
                + " is not closed; end it with }}, or write $${{ for the text ${{");
      }
      pieces.add(new Piece(true, text.substring(start, end).strip()));
      from = end + CLOSE.length();
    }
    literal.append(text, from, text.length());
    if (!literal.isEmpty()) {
      pieces.add(new Piece(false, literal.toString()));
    }
    return pieces;
  }

  /** Where the closing braces stand: not inside quotes, nor inside braces of the expression. */
  private static int end(String text, int start) {
    int depth = 0;
    char quote = 0;
    for (int i = start; i < text.length(); i++) {
      char c = text.charAt(i);
      if (quote != 0) {
        if (c == '\\') {
          i++;
        } else if (c == quote) {
          quote = 0;
        }
      } else if (c == '"' || c == '\'') {
        quote = c;
      } else if (c == '{') {
        depth++;
      } else if (c == '}' && depth > 0) {
        depth--;
      } else if (text.startsWith(CLOSE, i)) {
        return i;
      }
    }
    return -1;
  }
}
