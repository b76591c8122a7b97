package dev.baton.client;

import java.util.random.RandomGenerator;

/**
 * Run ids: 48 bits of wall clock and 80 random bits as 26 characters of Crockford's base 32.
 *
 * <p>The clock makes ids sort roughly by age for people; nothing relies on it.
 */
public final class Ulid {
  private static final String ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
  private static final int LENGTH = 26;

  private Ulid() {}

  static String draw(long wallMillis, RandomGenerator random) {
    return text(wallMillis << 16 | (random.nextLong() & 0xffff), random.nextLong());
  }

  /** The text of 128 bits. */
  public static String text(long high, long low) {
    char[] text = new char[LENGTH];
    long upper = high;
    long lower = low;
    for (int i = LENGTH - 1; i >= 0; i--) {
      text[i] = ALPHABET.charAt((int) (lower & 31));
      lower = lower >>> 5 | upper << 59;
      upper >>>= 5;
    }
    return new String(text);
  }
}
