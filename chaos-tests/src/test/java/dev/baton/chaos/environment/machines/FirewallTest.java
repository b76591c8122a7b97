package dev.baton.chaos.environment.machines;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.baton.chaos.environment.Impairment;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

class FirewallTest {
  @Test
  void shouldDropBySender() {
    Map<String, Impairment> rules = new TreeMap<>();
    rules.put("10.1.2.11", Impairment.CUT);
    rules.put("10.1.2.31", Impairment.slow(Duration.ZERO, 0.02));
    assertEquals(
        """
        *filter
        :INPUT ACCEPT [0:0]
        -A INPUT -s 10.1.2.11/32 -j DROP
        -A INPUT -s 10.1.2.31/32 -m statistic --mode random --probability 0.0200 -j DROP
        COMMIT
        """,
        Firewall.table(rules));
  }

  @Test
  void shouldHaveAnEmptyTableForWhoIsNotImpaired() {
    assertEquals("*filter\n:INPUT ACCEPT [0:0]\nCOMMIT\n", Firewall.table(Map.of()));
  }

  @Test
  void shouldEnterTheReceiversNetwork() {
    assertEquals(
        List.of("nsenter", "--net=/run/netns/baton-7-s1", "iptables-restore", "-w", "5"),
        Firewall.command(Path.of("/run/netns/baton-7-s1")));
  }

  @Test
  void shouldRefuseADelay() {
    Map<String, Impairment> rules = Map.of("10.1.2.11", Impairment.slow(Duration.ofMillis(40), 0));
    assertEquals(
        "Expected a cut or a loss, but packets from 10.1.2.11 can't be delayed here.",
        assertThrows(IllegalArgumentException.class, () -> Firewall.table(rules)).getMessage());
  }
}
