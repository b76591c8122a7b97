package dev.baton.scheduler.loop;

import static org.junit.jupiter.api.Assertions.assertEquals;

import com.google.protobuf.ByteString;
import dev.baton.coordination.Etcd;
import dev.baton.coordination.Keys;
import dev.baton.coordination.Txn;
import dev.baton.coordination.simulation.SimulatedEtcd;
import dev.baton.coordination.simulation.SimulatedStrand;
import dev.baton.coordination.simulation.World;
import dev.baton.scheduler.engine.Event;
import dev.baton.scheduler.journal.JournalClock;
import dev.baton.scheduler.journal.Ledger;
import dev.baton.workflow.Resolver;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class PipelineTest {
  private static final Duration SOON = Duration.ofSeconds(1);

  private final World world = new World(1);
  private final SimulatedEtcd etcd = new SimulatedEtcd(world);
  private final Etcd client = etcd.client("s1");
  private final SimulatedStrand strand = world.strand("s1");
  private final Keys keys = new Keys("baton");
  private final List<String> said = new ArrayList<>();

  private final class Heard implements Pipeline.Listener {
    @Override
    public void onRoom() {}

    @Override
    public void onClosing(long seq) {}

    @Override
    public void onClosed() {}

    @Override
    public void onOver(String why, boolean fault) {
      said.add(why);
    }
  }

  private Pipeline lead() {
    var unused =
        client.txn(
            new Txn(
                List.of(), List.of(new Txn.Op.Put(keys.leader(), ByteString.EMPTY, 0)), List.of()),
            SOON);
    world.runFor(SOON);
    Loop loop =
        new Loop(
            strand,
            client,
            client,
            keys,
            new JournalClock(),
            1,
            new SilentSink(),
            Peers.NONE,
            LoopListener.NONE,
            LoopSettings.defaults("s1"),
            new Resolver(),
            strand,
            world.random());
    long deadline = strand.nanoTime() + Duration.ofMinutes(1).toNanos();
    return new Pipeline(loop, Ledger.empty(1), etcd.revision(), 0, () -> deadline, new Heard());
  }

  @Test
  void shouldSayWhatWaitsForTheFenceBeforeWhatALaterEntryBrings() {
    Pipeline pipeline = lead();
    etcd.faults().loseAnswers(1);
    pipeline.whenDurable(() -> said.add("first"));
    world.runFor(Duration.ofMillis(50));
    etcd.faults().loseAnswers(0);

    pipeline.add(new Event.TermOpened("s1"), 1);
    pipeline.whenDurable(() -> said.add("second"));
    pipeline.send();
    world.runFor(SOON);

    assertEquals(List.of("first", "second"), said);
  }
}
