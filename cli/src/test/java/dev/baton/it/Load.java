package dev.baton.it;

import dev.baton.client.BatonClient;
import dev.baton.client.BatonException;
import dev.baton.proto.v1.SubmitRunRequest;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;

/** Callers that submit one run after the other, each when the one before it has ended. */
final class Load implements AutoCloseable {
  private final BatonClient client;
  private final SubmitRunRequest request;
  private final Set<String> acknowledged = ConcurrentHashMap.newKeySet();
  private final List<Thread> callers = new ArrayList<>();
  private volatile boolean enough;

  private Load(BatonClient client, SubmitRunRequest request) {
    this.client = client;
    this.request = request;
  }

  static Load start(BatonClient client, Flow flow, int callers) {
    Load load = new Load(client, flow.request());
    for (int i = 0; i < callers; i++) {
      load.callers.add(Thread.ofVirtual().start(load::call));
    }
    return load;
  }

  /** Ids of all runs whose submission was acknowledged so far. */
  Set<String> acknowledged() {
    return Set.copyOf(acknowledged);
  }

  /** Submits nothing more; returns once every caller has heard the answer it waits for. */
  void stop() {
    enough = true;
    try {
      for (Thread caller : callers) {
        caller.join();
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  @Override
  public void close() {
    enough = true;
    callers.forEach(Thread::interrupt);
  }

  private void call() {
    try {
      while (!enough) {
        submit();
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void submit() throws InterruptedException {
    try {
      String run = client.submitAsync(request).get().getRunId();
      acknowledged.add(run);
      var unused = client.watch(run, change -> {}).ended().get();
    } catch (ExecutionException e) {
      // Not acknowledged, or not to be followed now: what counts is looked up in the end.
      if (!(e.getCause() instanceof BatonException)) {
        throw new IllegalStateException(e);
      }
    }
  }
}
