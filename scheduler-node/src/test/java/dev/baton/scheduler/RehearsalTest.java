package dev.baton.scheduler;

import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.baton.coordination.testing.RealEtcd;
import org.junit.jupiter.api.Test;

class RehearsalTest {
  @Test
  void shouldPlayAWholeTerm() {
    assertTrue(RealEtcd.await(Rehearsal.begin()), "every task has ended");
  }
}
