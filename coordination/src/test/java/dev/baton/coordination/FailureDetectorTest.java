package dev.baton.coordination;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.baton.coordination.FailureDetector.Line;
import dev.baton.coordination.FailureDetector.LineListener;
import dev.baton.coordination.Leadership.Deposition;
import dev.baton.proto.v1.LeaderRecord;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** A standby's eye on a leader, by a clock that the test moves. */
class FailureDetectorTest implements FailureDetector.Wire, FailureDetector.Listener {
  private static final LeaderRecord LEADER =
      LeaderRecord.newBuilder()
          .setNodeId("s1")
          .setIncarnation("i1")
          .setApiAddress("127.0.0.1:1")
          .build();
  private static final Duration SOON = Duration.ofMillis(200);

  private final ManualStrand strand = new ManualStrand();
  private final List<String> told = new ArrayList<>();

  private long head = 10;
  private boolean refuses;
  private boolean answers = true;
  private String incarnation = "i1";
  private Deposition next = new Deposition(true, 0);
  private @Nullable CompletableFuture<Deposition> unanswered;
  private @Nullable LineListener open;
  private final FailureDetector detector =
      new FailureDetector(strand, new Random(1), this, () -> this.head, this::depose, this);

  @Override
  public Line open(String apiAddress, LineListener listener) {
    open = listener;
    return new Line() {
      @Override
      public void ping() {
        if (answers && !refuses) {
          listener.onPong(incarnation);
        }
      }

      @Override
      public void close() {
        told.add("closed");
      }
    };
  }

  @Override
  public CompletableFuture<Boolean> isRefused(String apiAddress) {
    return CompletableFuture.completedFuture(refuses);
  }

  private CompletableFuture<Deposition> depose(long term, long headRevision) {
    told.add("depose " + term + " at " + headRevision);
    return unanswered == null ? CompletableFuture.completedFuture(next) : unanswered;
  }

  @Override
  public void onDeposed(LeaderRecord leader, long term, FailureDetector.Evidence evidence) {
    told.add("deposed by " + evidence);
  }

  @Override
  public void onWrongGuess(LeaderRecord leader) {
    told.add("wrong");
  }

  @AfterEach
  void close() {
    detector.close();
  }

  private void watch() {
    detector.watch(LEADER, 7);
    strand.advance(SOON);
  }

  private void breakLine() {
    if (open != null) {
      open.onBroken();
    }
    strand.advance(Duration.ZERO);
  }

  /** Time in which a leader that works moves the head. */
  private void passWhileHeadMoves(Duration time) {
    for (long i = 0; i < time.dividedBy(FailureDetector.PING_EVERY); i++) {
      head++;
      strand.advance(FailureDetector.PING_EVERY);
    }
  }

  @Test
  void shouldLeaveALeaderAloneThatAnswers() {
    watch();
    strand.advance(Duration.ofMinutes(1));
    assertEquals(List.of(), told);
  }

  @Test
  void shouldLeaveALeaderAloneWhoseHeadMoves() {
    watch();
    answers = false;
    passWhileHeadMoves(Duration.ofMinutes(1));
    assertEquals(List.of(), told);
  }

  @Test
  void shouldDeposeByTwoRefusals() {
    watch();
    refuses = true;
    breakLine();
    assertEquals(List.of(), told);
    strand.advance(FailureDetector.BETWEEN_REFUSALS.minusMillis(1));
    head = 11;
    assertEquals(List.of(), told);
    strand.advance(Duration.ofMillis(1));
    assertEquals(List.of("depose 7 at 10", "deposed by REFUSED"), told);
  }

  @Test
  void shouldTakeTheLastEntryOfADeadLeaderIntoAccount() {
    watch();
    refuses = true;
    next = new Deposition(false, 12);
    breakLine();
    strand.advance(FailureDetector.BETWEEN_REFUSALS);
    assertEquals(List.of("depose 7 at 10"), told);
    next = new Deposition(true, 0);
    strand.advance(FailureDetector.BETWEEN_REFUSALS);
    assertEquals(List.of("depose 7 at 10", "depose 7 at 12", "deposed by REFUSED"), told);
  }

  @Test
  void shouldTryAgainWhenNobodyCouldSay() {
    watch();
    refuses = true;
    next = new Deposition(false, 0);
    breakLine();
    strand.advance(Duration.ofSeconds(2));
    next = new Deposition(true, 0);
    strand.advance(Duration.ofSeconds(2));
    assertEquals("deposed by REFUSED", told.getLast());
  }

  @Test
  void shouldKnockOnWhileAnAttemptIsUnanswered() {
    watch();
    CompletableFuture<Deposition> lost = new CompletableFuture<>();
    unanswered = lost;
    answers = false;
    strand.advance(FailureDetector.SILENCE.plus(FailureDetector.PING_EVERY));
    assertEquals(List.of("depose 7 at 10"), told);
    refuses = true;
    breakLine();
    passWhileHeadMoves(Duration.ofSeconds(3));
    unanswered = null;
    lost.complete(new Deposition(false, 0));
    passWhileHeadMoves(Duration.ofSeconds(3));
    assertEquals("deposed by REFUSED", told.getLast());
  }

  @Test
  void shouldOpenABrokenLineAgain() {
    watch();
    breakLine();
    strand.advance(Duration.ofSeconds(1));
    breakLine();
    strand.advance(Duration.ofMinutes(1));
    assertEquals(List.of(), told);
  }

  @Test
  void shouldDeposeWhenAnotherIncarnationAnswers() {
    watch();
    incarnation = "i2";
    breakLine();
    strand.advance(Duration.ofSeconds(1));
    assertEquals(List.of("depose 7 at 10", "deposed by RESTARTED", "closed"), told);
  }

  @Test
  void shouldDeposeByThreePingsWithoutAnswer() {
    watch();
    strand.advance(Duration.ofSeconds(10));
    answers = false;
    strand.advance(FailureDetector.SILENCE.minus(FailureDetector.PING_EVERY));
    assertEquals(List.of(), told);
    strand.advance(FailureDetector.PING_EVERY.multipliedBy(2));
    assertEquals(List.of("depose 7 at 10", "deposed by SILENT"), told);
  }

  @Test
  void shouldForgiveWhatItMissedItself() {
    watch();
    answers = false;
    strand.advance(Duration.ofSeconds(1));
    strand.standStill(Duration.ofSeconds(30));
    answers = true;
    strand.advance(Duration.ofSeconds(30));
    assertEquals(List.of(), told);
  }

  @Test
  void shouldGiveTwiceTheTimeAfterAWrongGuess() {
    watch();
    answers = false;
    strand.advance(FailureDetector.SILENCE.multipliedBy(2));
    answers = true;
    strand.advance(Duration.ofSeconds(1));
    assertEquals(List.of("depose 7 at 10", "deposed by SILENT", "wrong", "closed"), told);
    told.clear();

    detector.watch(LEADER, 8);
    strand.advance(SOON);
    refuses = true;
    answers = false;
    breakLine();
    strand.advance(FailureDetector.SILENCE.plus(FailureDetector.PING_EVERY));
    assertEquals(List.of(), told);
    strand.advance(FailureDetector.SILENCE);
    assertEquals("depose 8 at 10", told.getFirst());
  }

  @Test
  void shouldNotCallItAWrongGuessOnceTheLeaseWouldHaveEnded() {
    watch();
    answers = false;
    strand.advance(FailureDetector.SILENCE.multipliedBy(2));
    detector.watch(null, 9);
    strand.advance(Leadership.DEFAULT_TTL.plusSeconds(1));
    answers = true;
    strand.advance(Duration.ofMinutes(1));
    assertEquals(List.of("depose 7 at 10", "deposed by SILENT", "closed"), told);
  }

  @Test
  void shouldWatchNobodyWhenTold() {
    watch();
    detector.watch(null, 0);
    answers = false;
    strand.advance(Duration.ofMinutes(1));
    assertEquals(List.of("closed"), told);
  }
}
