package dev.baton.chaos.environment.machines;

import dev.baton.cli.cluster.Daemon.Role;
import dev.baton.node.ExitCode;
import dev.baton.node.ExitException;
import java.util.ArrayList;
import java.util.List;
import java.util.random.RandomGenerator;

/** The addresses of one run: {@code 10.second.third.0/24}. */
record Subnet(int second, int third) {
  private static final int DRAWS = 1000;
  private static final long MASK = 0xFFFFFF00L;
  private static final int DESTINATION = 1;
  private static final int NETMASK = 7;
  private static final int FIRST_ETCD = 11;
  private static final int FIRST_SCHEDULER = 31;
  private static final int FIRST_WORKER = 61;
  private static final int LAST = 254;

  /** A way out of this machine, as a destination and its mask. */
  record Route(long destination, long mask) {}

  /** Routes of {@code /proc/net/route}, without the one to everywhere. */
  static List<Route> routes(List<String> lines) {
    List<Route> routes = new ArrayList<>();
    for (String line : lines) {
      String[] fields = line.strip().split("\\s+", -1);
      if (fields.length > NETMASK && fields[DESTINATION].matches("[0-9A-F]{8}")) {
        Route route = new Route(address(fields[DESTINATION]), address(fields[NETMASK]));
        if (route.mask() != 0) {
          routes.add(route);
        }
      }
    }
    return routes;
  }

  /** Linux prints an address as the number that it is on this processor: the last byte first. */
  private static long address(String hex) {
    return Integer.toUnsignedLong(Integer.reverseBytes(Integer.parseUnsignedInt(hex, 16)));
  }

  /** One that no route leads to. */
  static Subnet draw(RandomGenerator random, List<Route> taken) {
    for (int i = 0; i < DRAWS; i++) {
      Subnet drawn = new Subnet(random.nextInt(1, 255), random.nextInt(256));
      if (taken.stream().noneMatch(drawn::overlaps)) {
        return drawn;
      }
    }
    throw new ExitException(
        ExitCode.REFUSED,
        "no free network was found in 10.0.0.0/8: routes of this machine lead to "
            + DRAWS
            + " that were tried; end what uses them, or use --env process");
  }

  private boolean overlaps(Route route) {
    long base = 10L << 24 | (long) second << 16 | (long) third << 8;
    return ((base ^ route.destination()) & route.mask() & MASK) == 0;
  }

  String cidr() {
    return host(0) + "/24";
  }

  /** The suite's own address. */
  String gateway() {
    return host(1);
  }

  private String host(int number) {
    return "10." + second + "." + third + "." + number;
  }

  /**
   * The address of a member.
   *
   * @param index from 0, among those of its role
   */
  String address(Role role, int index) {
    int number =
        index
            + switch (role) {
              case ETCD -> FIRST_ETCD;
              case SCHEDULER -> FIRST_SCHEDULER;
              case WORKER -> FIRST_WORKER;
            };
    if (number > LAST) {
      throw new ExitException(
          ExitCode.USAGE,
          "there are addresses for "
              + (LAST - FIRST_WORKER + 1)
              + " workers, also those that were added in between: use fewer rounds or workers");
    }
    return host(number);
  }
}
