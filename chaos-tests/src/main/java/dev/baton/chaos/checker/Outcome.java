package dev.baton.chaos.checker;

import com.fasterxml.jackson.annotation.JsonValue;
import java.util.Locale;

/** How a check, or all of them, came out. */
public enum Outcome {
  VALID,
  /** Of a whole run only: the environment could make none of its faults. */
  SKIPPED,
  /** The history does not show enough. */
  UNKNOWN,
  /** The promise was broken; there is evidence. */
  INVALID;

  /** As it is written in JSON and read by people. */
  @JsonValue
  public String word() {
    return name().toLowerCase(Locale.ROOT);
  }

  /** Whether nothing speaks against the product: what can't be done here is no failure. */
  public boolean isGood() {
    return this == VALID || this == SKIPPED;
  }

  /** The worse of two. */
  Outcome and(Outcome other) {
    return compareTo(other) >= 0 ? this : other;
  }
}
