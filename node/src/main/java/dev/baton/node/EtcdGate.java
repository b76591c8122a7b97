package dev.baton.node;

import dev.baton.coordination.Backoff;
import dev.baton.coordination.Etcd;
import dev.baton.coordination.EtcdException;
import dev.baton.coordination.Keys;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.random.RandomGenerator;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** At start: waits until etcd answers, for a while. Blocks its caller. */
public final class EtcdGate {
  private static final Logger log = LoggerFactory.getLogger(EtcdGate.class);
  private static final Duration CALL = Duration.ofSeconds(5);

  private EtcdGate() {}

  /**
   * Returns once etcd has answered.
   *
   * @param bound after which it gives up
   * @throws ExitException that names the endpoints and the last failure
   */
  public static void await(
      Etcd etcd, Keys keys, List<String> endpoints, Duration bound, RandomGenerator random)
      throws InterruptedException {
    Backoff backoff = new Backoff(Duration.ofMillis(500), Duration.ofSeconds(5), random);
    long end = System.nanoTime() + bound.toNanos();
    while (true) {
      String failure;
      try {
        // The deadline is the client's; the extra second is for a client that forgets it.
        var unused =
            etcd.get(keys.cluster(), CALL).get(CALL.toMillis() + 1000, TimeUnit.MILLISECONDS);
        return;
      } catch (ExecutionException e) {
        failure =
            e.getCause() instanceof EtcdException known
                ? known.kind() + ": " + known.getMessage()
                : String.valueOf(e.getCause());
      } catch (TimeoutException e) {
        failure = "no answer within " + CALL.toSeconds() + " s";
      }
      Duration left = Duration.ofNanos(end - System.nanoTime());
      if (left.isNegative()) {
        throw new ExitException(
            ExitCode.UNREACHABLE,
            "etcd at %s did not answer within %d s (%s); check that it runs and that etcd.endpoints (--etcd) is right"
                .formatted(String.join(", ", endpoints), bound.toSeconds(), failure));
      }
      Duration pause = backoff.next();
      pause = pause.compareTo(left) < 0 ? pause : left;
      log.warn(
          "etcd at {} does not answer ({}); trying again in {} ms",
          String.join(", ", endpoints),
          failure,
          pause.toMillis());
      // An interrupt ends the wait: somebody asked the process to end.
      var ignored = new CountDownLatch(1).await(pause.toNanos(), TimeUnit.NANOSECONDS);
    }
  }
}
