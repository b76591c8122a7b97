package dev.baton.scheduler.loop;

import dev.baton.coordination.FailureDetector;
import dev.baton.proto.journal.v1.SnapshotManifest;
import java.util.concurrent.CompletableFuture;

/** The way to the other scheduler nodes. */
public interface Peers extends FailureDetector.Wire {
  /** There are no others. */
  Peers NONE =
      new Peers() {
        @Override
        public CompletableFuture<SnapshotManifest> askSnapshot(String apiAddress) {
          return CompletableFuture.failedFuture(new IllegalStateException("alone"));
        }

        @Override
        public FailureDetector.Line open(String apiAddress, FailureDetector.LineListener listener) {
          throw new IllegalStateException("alone");
        }

        @Override
        public CompletableFuture<Boolean> isRefused(String apiAddress) {
          return CompletableFuture.failedFuture(new IllegalStateException("alone"));
        }
      };

  /**
   * Asks a standby to write a snapshot of what it has applied. Fails if it is not one, or does not
   * answer in time.
   *
   * @param apiAddress host:port
   */
  CompletableFuture<SnapshotManifest> askSnapshot(String apiAddress);
}
