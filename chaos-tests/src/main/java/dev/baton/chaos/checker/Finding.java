package dev.baton.chaos.checker;

import java.util.ArrayList;
import java.util.List;

/**
 * What a check found.
 *
 * @param evidence sentences with ids, at most {@link #MAX_EVIDENCE}
 * @param violations how many there are in all
 * @param looked how many things were judged
 */
record Finding(Outcome outcome, List<String> evidence, long violations, long looked) {
  static final int MAX_EVIDENCE = 20;

  Finding {
    evidence = List.copyOf(evidence);
  }

  /** Collects what one check sees. */
  static final class Collector {
    private final List<String> broken = new ArrayList<>();
    private final List<String> open = new ArrayList<>();
    private long violations;
    private long unknown;
    private long looked;

    void looked() {
      looked++;
    }

    void broken(String sentence) {
      violations++;
      keep(broken, sentence);
    }

    void unknown(String sentence) {
      unknown++;
      keep(open, sentence);
    }

    private static void keep(List<String> sentences, String sentence) {
      if (sentences.size() < MAX_EVIDENCE) {
        sentences.add(sentence);
      }
    }

    Finding finding() {
      if (violations > 0) {
        return new Finding(Outcome.INVALID, broken, violations, looked);
      }
      return new Finding(unknown > 0 ? Outcome.UNKNOWN : Outcome.VALID, open, 0, looked);
    }
  }
}
