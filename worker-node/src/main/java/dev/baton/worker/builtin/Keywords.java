package dev.baton.worker.builtin;

import dev.baton.worker.TaskContext;
import dev.baton.worker.TaskFailedException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;

/**
 * Keywords of an English text by RAKE (S. Rose, D. Engel, N. Cramer, W. Cowley: "Automatic Keyword
 * Extraction from Individual Documents", in Text Mining: Applications and Theory, Wiley 2010),
 * without its search for keywords that contain stop words.
 *
 * <p>Candidates are the longest runs of words between stop words, numbers and punctuation. A word
 * scores its degree (the lengths of all candidates that contain it, summed) divided by its
 * frequency; a candidate scores the sum of its words.
 */
final class Keywords {
  private static final Set<String> STOP_WORDS =
      Set.of(
          """
          a about above across after afterwards again against all almost alone along already also
          although always am among an and another any anyhow anyone anything anywhere are aren't
          around as at away back be became because become becomes been before beforehand behind
          being below beneath beside besides between beyond both but by came can can't cannot come
          could couldn't did didn't do does doesn't doing don't done down during each either else
          enough even ever every everyone everything everywhere except few for from further gave get
          gets getting give given go goes going gone got had hadn't has hasn't have haven't having he
          he'd he'll he's hence her here herself hers him himself his how however i i'd i'll i'm i've
          if in indeed instead into is isn't it it's its itself just keep kept last least less let
          let's like likely made make makes making many may maybe me meanwhile might mine more
          moreover most mostly much must my myself near nearly neither never nevertheless next no
          nobody none nor not nothing now nowhere o of off often oh on once one only onto or other
          others otherwise our ours ourselves out over own part per perhaps put quite rather re
          really said same saw say says see seem seemed seems seen several shall shan't she she'd
          she'll she's should shouldn't since so some somehow someone something sometimes somewhere
          still such take taken than that that's the their theirs them themselves then there
          therefore these they they'd they'll they're they've thing things this those though through
          throughout thus till to together too took toward towards under until unto up upon us very
          was wasn't way we we'd we'll we're we've well went were weren't what whatever when whence
          whenever where whereas wherever whether which while who whole whom whose why will with
          within without won't would wouldn't yes yet you you'd you'll you're you've your yours
          yourself yourselves
          """
              .strip()
              .split("\\s+"));

  private Keywords() {}

  /** A keyword, one word or several, and its score, rounded to thousandths. */
  record Keyword(String word, double score) {
    static final Comparator<Keyword> ORDER =
        Comparator.comparingDouble(Keyword::score).reversed().thenComparing(Keyword::word);
  }

  record Result(List<Keyword> keywords) {}

  static Result extract(String text, int top, TaskContext context) throws TaskFailedException {
    Map<String, Long> frequency = new HashMap<>();
    Map<String, Long> degree = new HashMap<>();
    Set<List<String>> candidates = new HashSet<>();
    for (List<String> candidate : candidates(text, context)) {
      for (String word : candidate) {
        frequency.merge(word, 1L, Long::sum);
        degree.merge(word, (long) candidate.size(), Long::sum);
      }
      candidates.add(candidate);
    }
    return new Result(
        candidates.stream()
            .map(candidate ->
                new Keyword(String.join(" ", candidate), score(candidate, degree, frequency)))
            .sorted(Keyword.ORDER)
            .limit(top)
            .toList());
  }

  private static double score(
      List<String> candidate, Map<String, Long> degree, Map<String, Long> frequency) {
    double score = 0;
    for (String word : candidate) {
      score += (double) degree.getOrDefault(word, 0L) / frequency.getOrDefault(word, 1L);
    }
    return Math.round(score * 1000) / 1000.0;
  }

  private static List<List<String>> candidates(String text, TaskContext context)
      throws TaskFailedException {
    List<List<String>> candidates = new ArrayList<>();
    List<String> open = new ArrayList<>();
    Matcher matcher = Words.WORD.matcher(text);
    int end = 0;
    while (matcher.find()) {
      if (!isBlank(text, end, matcher.start())) {
        close(open, candidates);
      }
      end = matcher.end();
      String word = matcher.group().toLowerCase(Locale.ROOT).replace('\u2019', '\'');
      if (STOP_WORDS.contains(word) || !Character.isLetter(word.codePointAt(0))) {
        close(open, candidates);
        Words.stopIfCancelled(context);
      } else {
        open.add(word);
      }
    }
    close(open, candidates);
    return candidates;
  }

  private static void close(List<String> open, List<List<String>> candidates) {
    if (!open.isEmpty()) {
      candidates.add(List.copyOf(open));
      open.clear();
    }
  }

  /** Blanks and a single line break do not end a phrase; an empty line and punctuation do. */
  private static boolean isBlank(String text, int from, int to) {
    int lines = 0;
    for (int i = from; i < to; i++) {
      char c = text.charAt(i);
      if ((c == '\n' && ++lines > 1) || (!Character.isWhitespace(c) && c != '-')) {
        return false;
      }
    }
    return true;
  }
}
