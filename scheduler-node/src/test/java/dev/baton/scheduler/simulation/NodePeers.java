package dev.baton.scheduler.simulation;

import dev.baton.coordination.FailureDetector;
import dev.baton.proto.journal.v1.SnapshotManifest;
import dev.baton.scheduler.loop.Peers;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** A node's way to the other nodes. */
final class NodePeers implements Peers {
  private static final Duration SNAPSHOT_DEADLINE = Duration.ofMinutes(2);

  private final Cluster cluster;
  private final SimulatedProcess self;

  NodePeers(Cluster cluster, SimulatedProcess self) {
    this.cluster = cluster;
    this.self = self;
  }

  @Override
  public FailureDetector.Line open(String address, FailureDetector.LineListener listener) {
    Line line = new Line(listener);
    line.open(address);
    return line;
  }

  /** A stream of pings. */
  private final class Line implements FailureDetector.Line {
    private final FailureDetector.LineListener listener;
    private @Nullable Wire wire;

    Line(FailureDetector.LineListener listener) {
      this.listener = listener;
    }

    void open(String address) {
      Wire opened = cluster.network().connect(self, address, () -> {}, listener::onBroken);
      opened.onClientClosed(listener::onBroken);
      wire = opened;
      this.address = address;
    }

    private String address = "";

    @Override
    public void ping() {
      Wire open = wire;
      if (open == null || open.waitingUp() > 1) {
        return;
      }
      open.up(() -> {
        SimulatedNode.Life there = cluster.node(address).life();
        if (there != null) {
          there.loop().onPing(() -> open.down(() -> listener.onPong(there.incarnation())));
        }
      });
    }

    @Override
    public void close() {
      Wire open = wire;
      if (open != null) {
        wire = null;
        open.closeByClient();
      }
    }
  }

  @Override
  public CompletableFuture<Boolean> isRefused(String address) {
    return cluster.network().knock(self.name(), address);
  }

  @Override
  public CompletableFuture<SnapshotManifest> askSnapshot(String address) {
    CompletableFuture<SnapshotManifest> answer = new CompletableFuture<>();
    Wire[] opened = new Wire[1];
    Runnable broken =
        () -> answer.completeExceptionally(new IllegalStateException("the call broke"));
    opened[0] = cluster.network().connect(self, address, () -> {}, broken);
    opened[0].onClientClosed(broken);
    opened[0].up(() -> {
      SimulatedNode.Life there = cluster.node(address).life();
      if (there == null) {
        return;
      }
      var unused =
          there
              .loop()
              .takeSnapshot()
              .whenCompleteAsync(
                  (manifest, failure) ->
                      opened[0].down(() -> {
                        if (failure == null) {
                          answer.complete(manifest);
                        } else {
                          answer.completeExceptionally(failure);
                        }
                        opened[0].closeByClient();
                      }),
                  there.side());
    });
    cluster.network().after(SNAPSHOT_DEADLINE, () -> self.transport().execute(broken));
    return answer;
  }
}
