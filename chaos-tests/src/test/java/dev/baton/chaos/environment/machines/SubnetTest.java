package dev.baton.chaos.environment.machines;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.baton.chaos.environment.machines.Subnet.Route;
import dev.baton.cli.cluster.Daemon.Role;
import dev.baton.node.ExitException;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;

class SubnetTest {
  private static final List<String> LINES =
      List.of(
          "Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT",
          "eth0\t00000000\t0101A8C0\t0003\t0\t0\t0\t00000000\t0\t0\t0",
          "eth0\t0001A8C0\t00000000\t0001\t0\t0\t0\t00FFFFFF\t0\t0\t0",
          "vpn0\t0000070A\t00000000\t0001\t0\t0\t0\t0000FFFF\t0\t0\t0");

  @Test
  void shouldReadRoutesAsLinuxPrintsThem() {
    assertEquals(
        List.of(new Route(0xC0A80100L, 0xFFFFFF00L), new Route(0x0A070000L, 0xFFFF0000L)),
        Subnet.routes(LINES));
  }

  @Test
  void shouldDrawNothingThatARouteLeadsTo() {
    List<Route> taken = Subnet.routes(LINES);
    Set<Subnet> drawn = new HashSet<>();
    Random random = new Random(1);
    for (int i = 0; i < 2000; i++) {
      Subnet subnet = Subnet.draw(random, taken);
      assertNotEquals(7, subnet.second());
      drawn.add(subnet);
    }
    assertTrue(drawn.size() > 1900, "drawn " + drawn.size());
    Route single = new Route(0x0A050607L, 0xFFFFFFFFL);
    assertTrue(
        random
            .ints(500)
            .mapToObj(i -> Subnet.draw(random, List.of(single)))
            .noneMatch(s -> s.equals(new Subnet(5, 6))));
  }

  @Test
  void shouldSayThatAllIsTaken() {
    ExitException full =
        assertThrows(
            ExitException.class,
            () -> Subnet.draw(new Random(1), List.of(new Route(0x0A000000L, 0xFF000000L))));
    assertTrue(full.sentence().startsWith("no free network was found in 10.0.0.0/8"));
  }

  @Test
  void shouldGiveEachMemberAnAddressOfItsOwn() {
    Subnet subnet = new Subnet(77, 3);
    assertEquals("10.77.3.0/24", subnet.cidr());
    assertEquals("10.77.3.1", subnet.gateway());
    Set<String> addresses = new HashSet<>(Set.of(subnet.gateway()));
    for (Role role : Role.values()) {
      int most = role == Role.WORKER ? 194 : 20;
      for (int i = 0; i < most; i++) {
        assertTrue(addresses.add(subnet.address(role, i)), role + " " + i);
      }
    }
    ExitException full = assertThrows(ExitException.class, () -> subnet.address(Role.WORKER, 194));
    assertTrue(full.sentence().startsWith("there are addresses for 194 workers"), full.sentence());
  }
}
