package dev.baton.coordination;

import dev.baton.coordination.Leadership.Deposition;
import dev.baton.coordination.Strand.Timer;
import dev.baton.proto.v1.LeaderRecord;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.function.LongSupplier;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * A standby's eye on the leader: it pings the leader's loop, and has the leader deposed by evidence
 * instead of waiting for its lease.
 *
 * <p>Evidence is that the leader's port refuses two fresh connections, 50 ms apart; that another
 * incarnation answers there; or that for 1.5 s no ping was answered and the journal's head, which a
 * leader touches every half second, has not moved. A leader that answers again before its lease
 * would have ended was a wrong guess: each doubles what it takes to suspect that node again.
 *
 * <p>Belongs to its owner's strand.
 */
public final class FailureDetector {
  static final Duration PING_EVERY = Duration.ofMillis(500);
  static final Duration SILENCE = Duration.ofMillis(1500);
  static final Duration BETWEEN_REFUSALS = Duration.ofMillis(50);

  private static final Duration LONGEST_PAUSE = Duration.ofSeconds(1);
  private static final Duration AFTERMATH = Leadership.DEFAULT_TTL;
  private static final int MOST_DOUBLINGS = 5;
  private static final int MAX_NODES = 100;

  /** The wire to other nodes. What it tells may come on any thread. */
  public interface Wire {
    /** Opens a line for pings; a failure is told like a break. */
    Line open(String apiAddress, LineListener listener);

    /** Whether a fresh connection is refused; fails if neither that nor accepted in time. */
    CompletableFuture<Boolean> isRefused(String apiAddress);
  }

  /** A connection to one node. */
  public interface Line {
    void ping();

    void close();
  }

  /** What a line tells. */
  public interface LineListener {
    /** The loop of that incarnation has answered a ping. */
    void onPong(String incarnation);

    void onBroken();
  }

  /** {@link Leadership#depose}. */
  public interface Deposer {
    CompletableFuture<Deposition> depose(long term, long headRevision);
  }

  /** Called on the strand. */
  public interface Listener {
    void onDeposed(LeaderRecord leader, long term, Evidence evidence);

    void onWrongGuess(LeaderRecord leader);
  }

  /** By what a leader is taken for dead. */
  public enum Evidence {
    REFUSED,
    RESTARTED,
    SILENT
  }

  private final Strand strand;
  private final Wire wire;
  private final LongSupplier headRevision;
  private final Deposer deposer;
  private final Listener listener;
  private final Backoff pauses;
  private final Map<String, Integer> wrongGuesses = new HashMap<>();

  private @Nullable Target target;

  /**
   * @param headRevision newest mod revision of the journal's head that came
   */
  public FailureDetector(
      Strand strand,
      RandomGenerator random,
      Wire wire,
      LongSupplier headRevision,
      Deposer deposer,
      Listener listener) {
    this.strand = strand;
    this.pauses = new Backoff(BETWEEN_REFUSALS, LONGEST_PAUSE, random);
    this.wire = wire;
    this.headRevision = headRevision;
    this.deposer = deposer;
    this.listener = listener;
  }

  /**
   * Whom to watch from now on. Harmless when repeated.
   *
   * @param leader null: nobody
   */
  public void watch(@Nullable LeaderRecord leader, long term) {
    Target watched = target;
    if (leader == null) {
      if (watched != null && !watched.isBeingJudged()) {
        close();
      }
    } else if (watched == null || watched.term != term) {
      close();
      Target next = new Target(leader, term);
      target = next;
      next.start();
    }
  }

  public void close() {
    if (target != null) {
      target.close();
      target = null;
    }
  }

  /** One leader in one term. */
  private final class Target {
    private final LeaderRecord leader;
    private final long term;
    private @Nullable Line line;
    private int lines;
    private @Nullable Timer ticking;
    private @Nullable Timer pausing;
    private long tickedNanos;
    private long heardNanos;
    private long head;
    private long headMovedNanos;
    private long brokenSinceNanos;
    private boolean isBroken;
    private boolean wasRefused;
    private long headWhenRefused;
    private boolean deposing;
    private boolean deposed;
    private long deposedNanos;
    private boolean closed;

    Target(LeaderRecord leader, long term) {
      this.leader = leader;
      this.term = term;
    }

    void start() {
      forgive();
      open();
      tick();
    }

    void close() {
      closed = true;
      if (line != null) {
        line.close();
        line = null;
      }
      if (ticking != null) {
        ticking.cancel();
      }
      if (pausing != null) {
        pausing.cancel();
      }
    }

    /** It is being deposed, or was, and is listened to for a while: did it deserve that? */
    boolean isBeingJudged() {
      return deposing || deposed;
    }

    /** What was missed while this node itself stood still counts for nobody. */
    private void forgive() {
      long now = strand.nanoTime();
      tickedNanos = now;
      heardNanos = now;
      headMovedNanos = now;
    }

    private void tick() {
      ticking = strand.schedule(PING_EVERY, this::tick);
      long now = strand.nanoTime();
      if (now - tickedNanos > 2 * PING_EVERY.toNanos()) {
        forgive();
      }
      tickedNanos = now;
      long newest = headRevision.getAsLong();
      if (newest != head) {
        head = newest;
        headMovedNanos = now;
      }
      if (line != null) {
        line.ping();
      }
      if (deposed) {
        if (now - deposedNanos > AFTERMATH.toNanos()) {
          FailureDetector.this.close();
        }
      } else if (now - heardNanos >= patience().toNanos()
          && now - headMovedNanos >= patience().toNanos()) {
        depose(Evidence.SILENT, head);
      }
    }

    /** How long a node must be silent. */
    private Duration patience() {
      return SILENCE.multipliedBy(1L << wrongGuesses.getOrDefault(leader.getNodeId(), 0));
    }

    /** How long it must be broken before it is believed to be dead. */
    private Duration holdOff() {
      return wrongGuesses.containsKey(leader.getNodeId()) ? patience() : Duration.ZERO;
    }

    // The line.

    private void open() {
      int mine = ++lines;
      LineListener listener =
          new LineListener() {
            @Override
            public void onPong(String incarnation) {
              strand.execute(() -> heard(incarnation));
            }

            @Override
            public void onBroken() {
              strand.execute(() -> broken(mine));
            }
          };
      line = wire.open(leader.getApiAddress(), listener);
      line.ping();
    }

    private void heard(String incarnation) {
      if (closed) {
        return;
      }
      if (incarnation.equals(leader.getIncarnation())) {
        heardNanos = strand.nanoTime();
        isBroken = false;
        wasRefused = false;
        pauses.reset();
        if (deposed) {
          guessedWrong();
        }
      } else if (deposed) {
        FailureDetector.this.close();
      } else {
        depose(Evidence.RESTARTED, headRevision.getAsLong());
      }
    }

    private void guessedWrong() {
      if (wrongGuesses.size() < MAX_NODES) {
        wrongGuesses.merge(leader.getNodeId(), 1, (a, b) -> Math.min(MOST_DOUBLINGS, a + b));
      }
      listener.onWrongGuess(leader);
      FailureDetector.this.close();
    }

    private void broken(int which) {
      if (closed || which != lines || line == null) {
        return;
      }
      line = null;
      if (!isBroken) {
        isBroken = true;
        brokenSinceNanos = strand.nanoTime();
      }
      probe();
    }

    private void probe() {
      pausing = null;
      var unused =
          wire.isRefused(leader.getApiAddress())
              .whenCompleteAsync(
                  (refused, failure) -> {
                    if (!closed) {
                      probed(failure == null && refused);
                    }
                  },
                  strand);
    }

    private void probed(boolean refused) {
      if (deposed || !refused) {
        wasRefused = false;
        pausing = strand.schedule(pauses.next(), this::open);
      } else if (!wasRefused) {
        wasRefused = true;
        headWhenRefused = headRevision.getAsLong();
        pausing = strand.schedule(BETWEEN_REFUSALS, this::probe);
      } else if (deposing || strand.nanoTime() - brokenSinceNanos < holdOff().toNanos()) {
        pausing = strand.schedule(pauses.next(), this::probe);
      } else {
        depose(Evidence.REFUSED, headWhenRefused);
      }
    }

    private void depose(Evidence evidence, long asOfHead) {
      if (deposing || deposed) {
        return;
      }
      deposing = true;
      var unused =
          deposer
              .depose(term, asOfHead)
              .whenCompleteAsync(
                  (outcome, failure) -> {
                    deposing = false;
                    if (!closed) {
                      judge(evidence, failure == null ? outcome : Deposition.NOT_NOW);
                    }
                  },
                  strand);
    }

    private void judge(Evidence evidence, Deposition outcome) {
      if (outcome.won()) {
        deposed = true;
        deposedNanos = strand.nanoTime();
        listener.onDeposed(leader, term, evidence);
        if (line == null) {
          pausing = strand.schedule(pauses.next(), this::open);
        }
      } else if (evidence == Evidence.REFUSED) {
        // If an entry came after the first refusal: refused once more, that one was the last.
        wasRefused = outcome.headRevision() > 0;
        headWhenRefused = outcome.headRevision();
        pausing = strand.schedule(pauses.next(), this::probe);
      } else if (outcome.headRevision() > 0) {
        headMovedNanos = strand.nanoTime();
      }
    }
  }
}
