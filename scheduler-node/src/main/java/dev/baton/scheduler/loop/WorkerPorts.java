package dev.baton.scheduler.loop;

import java.util.concurrent.CompletableFuture;

/** The ports at which workers answer for themselves, beside their streams. */
public interface WorkerPorts {
  /** There is no way to them. */
  WorkerPorts NONE =
      new WorkerPorts() {
        @Override
        public CompletableFuture<Boolean> answers(String address, String incarnation) {
          return CompletableFuture.completedFuture(false);
        }

        @Override
        public CompletableFuture<Boolean> isRefused(String address) {
          return CompletableFuture.completedFuture(false);
        }
      };

  /** Whether this incarnation answers there; fails if nothing does in time. */
  CompletableFuture<Boolean> answers(String address, String incarnation);

  /** Whether a fresh connection is refused; fails if neither that nor accepted in time. */
  CompletableFuture<Boolean> isRefused(String address);
}
