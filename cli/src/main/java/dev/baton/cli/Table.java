package dev.baton.cli;

import dev.baton.cli.program.Terminal;
import dev.baton.cli.program.Terminal.Style;
import java.util.ArrayList;
import java.util.List;

/** Rows in aligned columns. A cell that has no text shows a dash, but for the last column. */
final class Table {
  private static final String GAP = "  ";

  private final List<String> header;
  private final List<List<Cell>> rows = new ArrayList<>();

  Table(String... header) {
    this.header = List.of(header);
  }

  /** A text and how it looks. */
  record Cell(String text, Style style) {
    static Cell of(Object value) {
      return new Cell(String.valueOf(value), Style.PLAIN);
    }
  }

  /** A row of cells, or of anything that is to be shown plainly. */
  Table row(Object... values) {
    List<Cell> cells = new ArrayList<>();
    for (Object value : values) {
      cells.add(value instanceof Cell cell ? cell : Cell.of(value));
    }
    if (cells.size() != header.size()) {
      throw new IllegalArgumentException(
          "Expected " + header.size() + " cells, but got " + cells.size() + ".");
    }
    rows.add(cells);
    return this;
  }

  void print(Terminal terminal) {
    int[] widths = header.stream().mapToInt(String::length).toArray();
    for (List<Cell> row : rows) {
      for (int i = 0; i < widths.length; i++) {
        widths[i] = Math.max(widths[i], row.get(i).text().length());
      }
    }
    List<Cell> titles = header.stream().map(title -> new Cell(title, Style.DIM)).toList();
    terminal.println(line(terminal, titles, widths));
    for (List<Cell> row : rows) {
      terminal.println(line(terminal, row, widths));
    }
  }

  private static String line(Terminal terminal, List<Cell> cells, int[] widths) {
    StringBuilder line = new StringBuilder();
    int last = cells.size() - 1;
    for (int i = 0; i <= last; i++) {
      String text = cells.get(i).text();
      if (text.isEmpty() && i < last) {
        text = "-";
      }
      line.append(terminal.style(cells.get(i).style(), text));
      if (i < last) {
        line.append(" ".repeat(widths[i] - text.length() < 0 ? 0 : widths[i] - text.length()))
            .append(GAP);
      }
    }
    return line.toString().stripTrailing();
  }
}
