package dev.baton.scheduler.model;

import java.util.Optional;

/**
 * A run's id: 128 bits, written as a ULID (26 characters of Crockford's base 32, upper case).
 *
 * @see <a href="https://github.com/ulid/spec">the ULID specification</a>
 */
public record RunId(long high, long low) implements Comparable<RunId> {
  private static final int LENGTH = 26;
  private static final String DIGITS = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
  private static final byte[] VALUES = new byte[128];

  static {
    java.util.Arrays.fill(VALUES, (byte) -1);
    for (int i = 0; i < DIGITS.length(); i++) {
      VALUES[DIGITS.charAt(i)] = (byte) i;
    }
  }

  /** Empty if the text is not a ULID in upper case. */
  public static Optional<RunId> parse(String text) {
    if (text.length() != LENGTH || text.charAt(0) > '7') {
      return Optional.empty();
    }
    long high = 0;
    long low = 0;
    for (int i = 0; i < LENGTH; i++) {
      char c = text.charAt(i);
      int value = c < VALUES.length ? VALUES[c] : -1;
      if (value < 0) {
        return Optional.empty();
      }
      high = high << 5 | low >>> 59;
      low = low << 5 | value;
    }
    return Optional.of(new RunId(high, low));
  }

  @Override
  public int compareTo(RunId other) {
    int order = Long.compareUnsigned(high, other.high);
    return order != 0 ? order : Long.compareUnsigned(low, other.low);
  }

  @Override
  public String toString() {
    char[] text = new char[LENGTH];
    long h = high;
    long l = low;
    for (int i = LENGTH - 1; i >= 0; i--) {
      text[i] = DIGITS.charAt((int) (l & 31));
      l = l >>> 5 | h << 59;
      h >>>= 5;
    }
    return new String(text);
  }
}
