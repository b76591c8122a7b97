package dev.baton.cli.cluster;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;

/**
 * What Linux says of a process in {@code /proc/<pid>/stat}.
 *
 * @param state R, S, D, T (stopped), Z (dead, not yet reaped)
 * @param startTicks when it started, in ticks since the machine did
 * @param cpuTicks time on a CPU in user and kernel mode, in ticks
 */
public record ProcStat(long pid, char state, long startTicks, long cpuTicks) {
  /** Ticks a second: fixed by Linux for all programs (USER_HZ). */
  public static final int TICKS_PER_SECOND = 100;

  /** The process as it is now; empty if there is none. */
  public static Optional<ProcStat> read(long pid) {
    return read(Path.of("/proc", Long.toString(pid)));
  }

  /** A process, or one thread of it, by its folder in {@code /proc}. */
  public static Optional<ProcStat> read(Path folder) {
    try {
      String text =
          new String(Files.readAllBytes(folder.resolve("stat")), StandardCharsets.ISO_8859_1);
      // The name stands in parentheses and may hold blanks and parentheses itself.
      String[] fields = text.substring(text.lastIndexOf(')') + 2).split(" ", -1);
      return Optional.of(
          new ProcStat(
              Long.parseLong(folder.getFileName().toString()),
              fields[0].charAt(0),
              Long.parseLong(fields[19]),
              Long.parseLong(fields[11]) + Long.parseLong(fields[12])));
    } catch (IOException e) {
      return Optional.empty();
    }
  }

  /** Changes with every start of the machine. */
  static String bootId() {
    try {
      return Files.readString(Path.of("/proc/sys/kernel/random/boot_id")).strip();
    } catch (IOException e) {
      return "";
    }
  }
}
