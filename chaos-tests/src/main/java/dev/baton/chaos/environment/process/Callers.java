package dev.baton.chaos.environment.process;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;
import java.util.stream.Stream;

/**
 * Tells who opened a connection of this machine: Linux names the socket in {@code /proc/net/tcp}
 * and its owner in {@code /proc/<pid>/fd}.
 */
final class Callers {
  private static final int LOCAL = 1;
  private static final int REMOTE = 2;
  private static final int INODE = 9;

  private final Supplier<Map<Long, String>> members;

  /**
   * @param members names by process id, asked afresh each time
   */
  Callers(Supplier<Map<Long, String>> members) {
    this.members = members;
  }

  /** The member whose socket has these ports; empty: somebody else's. */
  String nameOf(int callerPort, int calledPort) {
    Optional<String> inode =
        Stream.of("tcp", "tcp6")
            .flatMap(file -> lines(Path.of("/proc/net", file)))
            .map(line -> line.strip().split("\\s+"))
            .filter(fields -> fields.length > INODE)
            .filter(fields -> port(fields[LOCAL]) == callerPort)
            .filter(fields -> port(fields[REMOTE]) == calledPort)
            .map(fields -> "socket:[" + fields[INODE] + "]")
            .findFirst();
    if (inode.isEmpty()) {
      return "";
    }
    return members.get().entrySet().stream()
        .filter(member -> holds(member.getKey(), inode.get()))
        .map(Map.Entry::getValue)
        .findFirst()
        .orElse("");
  }

  private static int port(String address) {
    int colon = address.lastIndexOf(':');
    return colon < 0 ? -1 : Integer.parseInt(address, colon + 1, address.length(), 16);
  }

  private static Stream<String> lines(Path file) {
    try {
      List<String> lines = Files.readAllLines(file);
      return lines.stream().skip(1);
    } catch (IOException e) {
      return Stream.of();
    }
  }

  private static boolean holds(long pid, String socket) {
    try (Stream<Path> files = Files.list(Path.of("/proc", Long.toString(pid), "fd"))) {
      return files.anyMatch(file -> socket.equals(target(file)));
    } catch (IOException | UncheckedIOException e) {
      // It ended meanwhile.
      return false;
    }
  }

  private static String target(Path file) {
    try {
      return Files.readSymbolicLink(file).toString();
    } catch (IOException e) {
      return "";
    }
  }
}
