package dev.baton.it;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.OptionalLong;

/** What a worker noted of assignments: {@code A run task attempt seq term nanos millis}. */
record Receipts(List<Receipt> all) {
  /**
   * One assignment, at the monotonic clock of this machine.
   *
   * @param seq of the entry that decided it
   */
  record Receipt(long seq, long term, long nanos) {}

  Receipts {
    all = List.copyOf(all);
  }

  static Receipts read(Path trace) {
    try {
      String text = Files.exists(trace) ? Files.readString(trace) : "";
      return new Receipts(
          text.substring(0, text.lastIndexOf('\n') + 1)
              .lines()
              .map(line -> line.split(" ", -1))
              .filter(fields -> fields[0].equals("A"))
              .map(fields ->
                  new Receipt(
                      Long.parseUnsignedLong(fields[4]),
                      Long.parseLong(fields[5]),
                      Long.parseLong(fields[6])))
              .toList());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /**
   * When the first one arrived that was decided in this term; repeats of older ones don't count.
   */
  OptionalLong first(long term, long firstEntry) {
    return all.stream()
        .filter(receipt -> receipt.term() == term && receipt.seq() >= firstEntry)
        .mapToLong(Receipt::nanos)
        .min();
  }
}
