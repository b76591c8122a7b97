package dev.baton.chaos.nemesis;

/** A fault found nobody to hit within its bound, such as a leader while nobody leads. */
public final class NobodyThereException extends RuntimeException {
  NobodyThereException(String sentence) {
    super(sentence);
  }
}
