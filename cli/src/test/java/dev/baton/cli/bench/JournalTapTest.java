package dev.baton.cli.bench;

import static org.junit.jupiter.api.Assertions.assertEquals;

import com.google.protobuf.ByteString;
import dev.baton.cli.bench.JournalTap.Counts;
import dev.baton.coordination.EtcdConfig;
import dev.baton.coordination.Keys;
import dev.baton.coordination.Txn;
import dev.baton.coordination.jetcd.JetcdEtcd;
import dev.baton.coordination.server.EtcdCluster;
import dev.baton.proto.journal.v1.AttemptEnded;
import dev.baton.proto.journal.v1.Event;
import dev.baton.proto.journal.v1.JournalEntry;
import dev.baton.proto.journal.v1.RunCreated;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class JournalTapTest {
  @TempDir private Path directory = Path.of("");
  private final Keys keys = new Keys("bench");
  private final BlockingQueue<String> ended = new LinkedBlockingQueue<>();

  @Test
  void shouldCountWhatIsDurable() throws Exception {
    ScheduledExecutorService executor = Executors.newScheduledThreadPool(1);
    try (EtcdCluster cluster = EtcdCluster.start(directory, 1);
        JetcdEtcd etcd = JetcdEtcd.create(EtcdConfig.of(cluster.endpoints()), "test");
        JournalTap tap = new JournalTap(etcd, keys, 2, ended::add, executor)) {
      tap.start();
      put(etcd, entry(1, 5, created(), ended(0, 1, "{}", true)));
      put(etcd, entry(2, 5, ended(0, 2, "{\"a\":1}", false)));
      JournalEntry last = entry(3, 6, ended(1, 1, "{}", false));
      put(etcd, last);

      assertEquals("00000000000000000000000001", ended.poll(10, TimeUnit.SECONDS));
      Awaitility.await().until(() -> tap.counts().entries() == 3);
      Counts counts = tap.counts();
      assertEquals(2, counts.tasksEnded());
      assertEquals(2, counts.tasksSucceeded());
      assertEquals(1, tap.firstSeq(5));
      assertEquals(3, tap.firstSeq(6));
      assertEquals(0, tap.firstSeq(7));

      // A member that comes back: what was written meanwhile is caught up with.
      cluster.kill(0);
      cluster.start(0);
      cluster.awaitHealthy(Duration.ofSeconds(20));
      put(etcd, entry(4, 6));
      Awaitility.await().until(() -> tap.counts().entries() == 4);
    } finally {
      executor.shutdownNow();
    }
  }

  private void put(JetcdEtcd etcd, JournalEntry entry) {
    Awaitility.await()
        .ignoreExceptions()
        .until(() ->
            etcd.txn(
                    new Txn(
                        List.of(),
                        List.of(
                            new Txn.Op.Put(keys.journal(entry.getSeq()), entry.toByteString(), 0)),
                        List.of()),
                    Duration.ofSeconds(2))
                .get(5, TimeUnit.SECONDS)
                .succeeded());
  }

  private static JournalEntry entry(long seq, long term, Event... events) {
    return JournalEntry.newBuilder()
        .setSeq(seq)
        .setTerm(term)
        .addAllEvents(List.of(events))
        .build();
  }

  private static Event created() {
    byte[] id = new byte[16];
    id[15] = 1;
    return Event.newBuilder()
        .setRunCreated(RunCreated.newBuilder().setNumber(1 << 16).setRunId(ByteString.copyFrom(id)))
        .build();
  }

  private static Event ended(int task, int attempt, String output, boolean again) {
    AttemptEnded.Builder attemptEnded =
        AttemptEnded.newBuilder()
            .setRun(1 << 16)
            .setTask(task)
            .setAttempt(attempt)
            .setOutcome(again ? AttemptEnded.Outcome.FAILED : AttemptEnded.Outcome.SUCCESS)
            .setOutput(output);
    if (again) {
      attemptEnded.setRetryAfterMs(0);
    }
    return Event.newBuilder().setAttemptEnded(attemptEnded).build();
  }
}
