package dev.baton.scheduler.simulation;

import java.time.Duration;

/** How unkind the world around nodes and workers is now. */
final class Conditions {
  private static final int USUAL_POOL = 20;
  private static final int SLOW_POOL_MICROS = 100_000;

  private int oneInSlowPool = USUAL_POOL;
  private int slowPoolMicros = SLOW_POOL_MICROS;
  private boolean calm;

  int oneInSlowPool() {
    return oneInSlowPool;
  }

  int slowPoolMicros() {
    return slowPoolMicros;
  }

  void slowPool(Duration longest) {
    oneInSlowPool = 2;
    slowPoolMicros = (int) (longest.toNanos() / 1_000);
  }

  /** No faults any more. */
  boolean isCalm() {
    return calm;
  }

  void becomeKind() {
    oneInSlowPool = USUAL_POOL;
    slowPoolMicros = SLOW_POOL_MICROS;
  }

  void becomeCalm() {
    calm = true;
    becomeKind();
  }
}
