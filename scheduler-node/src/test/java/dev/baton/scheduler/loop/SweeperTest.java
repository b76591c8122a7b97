package dev.baton.scheduler.loop;

import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import dev.baton.coordination.Strand;
import dev.baton.coordination.Txn.Op;
import dev.baton.coordination.testing.RealEtcd;
import dev.baton.coordination.testing.UnkindEtcd;
import dev.baton.scheduler.engine.ClusterState;
import dev.baton.scheduler.engine.Definitions;
import dev.baton.scheduler.journal.JournalClock;
import dev.baton.scheduler.model.RunId;
import dev.baton.workflow.Resolver;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Keys that nobody names, and a state that names nothing. */
class SweeperTest extends RealEtcd {
  private static final ByteString SOMETHING = ByteString.copyFromUtf8("something");

  private final ShiftedStrand shifted = new ShiftedStrand();
  private UnkindEtcd line;
  private Sweeper sweeper;

  SweeperTest() {
    super(1);
  }

  /** The test's strand, with a clock that can be put forward. */
  private final class ShiftedStrand implements Strand {
    private final AtomicLong nanos = new AtomicLong();

    @Override
    public void execute(Runnable task) {
      strand.execute(task);
    }

    @Override
    public long nanoTime() {
      return strand.nanoTime() + nanos.get();
    }

    @Override
    public long wallMillis() {
      return strand.wallMillis();
    }

    @Override
    public Timer schedule(Duration delay, Runnable task) {
      return strand.schedule(delay, task);
    }
  }

  /** Whether the state by which the sweeper judges is in the journal. */
  private volatile boolean isDurable;

  private final List<Runnable> waiting = new ArrayList<>();

  @BeforeEach
  void start() {
    isDurable = true;
    waiting.clear();
    line = new UnkindEtcd(client("sweeper"));
    long term = put(keys.leader(), SOMETHING);
    Loop loop =
        new Loop(
            shifted,
            line,
            line,
            keys,
            new JournalClock(),
            1,
            new SilentSink(),
            Peers.NONE,
            LoopListener.NONE,
            LoopSettings.defaults("n"),
            new Resolver(),
            Runnable::run,
            new Random());
    sweeper =
        new Sweeper(
            loop,
            new ClusterState(1, new Definitions()),
            term,
            task -> {
              if (isDurable) {
                task.run();
              } else {
                waiting.add(task);
              }
            });
  }

  @AfterEach
  void stop() {
    onStrand(sweeper::close);
    line.close();
  }

  private void put(ByteString key) {
    put(key, SOMETHING);
  }

  /** A look at all folders, to its end. */
  private void look() {
    shifted.nanos.addAndGet(Duration.ofMinutes(11).toNanos());
    int before = lastPages();
    onStrand(sweeper::tick);
    awaitUntil("the last folder", () -> lastPages() == before + 1);
    awaitAlways("it is judged", Duration.ofMillis(50), () -> true);
    onStrand(() -> {});
  }

  private int lastPages() {
    return (int) line.reads.stream().filter(keys.snapshots()::equals).count();
  }

  private List<ByteString> orphans() {
    return List.of(
        keys.payload(5L << 16, 0, 1),
        keys.params(new RunId(1, 1).toString(), 7),
        keys.historyPart(6L << 16, 0),
        keys.spec(7L << 16));
  }

  @Test
  void shouldDeleteWhatNobodyNamesAndNothingHasChangedForLong() {
    orphans().forEach(this::put);
    ByteString rewritten = keys.payload(5L << 16, 1, 1);
    put(rewritten);
    put(keys.snapshotChunk(3, "a", 0));
    look();
    orphans().forEach(key -> assertTrue(exists(key), "it may be decided yet"));
    put(rewritten);
    look();
    orphans().forEach(key -> awaitUntil(key.toStringUtf8() + " goes", () -> !exists(key)));
    assertTrue(exists(rewritten));
    look();
    awaitUntil("the other goes too", () -> !exists(rewritten));
    assertTrue(exists(keys.snapshotChunk(3, "a", 0)), "it may be installed yet");
  }

  @Test
  void shouldKeepWhatNobodyNamesUntilThatIsInTheJournal() {
    orphans().forEach(this::put);
    isDurable = false;
    look();
    look();
    awaitAlways(
        "they stay", Duration.ofMillis(200), () -> orphans().stream().allMatch(this::exists));
    onStrand(() -> waiting.forEach(Runnable::run));
    orphans().forEach(key -> awaitUntil(key.toStringUtf8() + " goes", () -> !exists(key)));
  }

  @Test
  void shouldDeleteNothingForAnotherLeader() {
    orphans().forEach(this::put);
    look();
    put(keys.leader());
    look();
    awaitAlways(
        "they stay", Duration.ofMillis(200), () -> orphans().stream().allMatch(this::exists));
  }

  @Test
  void shouldDeleteAThousandInOneLookAtMost() {
    for (int i = 0; i < 23; i++) {
      List<Op> ops = new ArrayList<>();
      for (int j = 0; j < 100; j++) {
        ops.add(new Op.Put(keys.payload(5L << 16, i, j), SOMETHING, 0));
      }
      write(ops);
    }
    look();
    look();
    awaitUntil("some go", () -> list(keys.payloads()).size() <= 1_300);
    look();
    look();
    awaitUntil("all go", () -> list(keys.payloads()).size() <= 300);
  }
}
