package dev.baton.scheduler.loop;

import dev.baton.proto.journal.v1.SnapshotManifest;
import java.util.concurrent.CompletableFuture;

/** The way to the other scheduler nodes. */
public interface Peers {
  /**
   * Asks a standby to write a snapshot of what it has applied. Fails if it is not one, or does not
   * answer in time.
   *
   * @param apiAddress host:port
   */
  CompletableFuture<SnapshotManifest> askSnapshot(String apiAddress);
}
