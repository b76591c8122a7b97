package dev.baton.cli.bench;

import dev.baton.cli.cluster.Daemon;
import dev.baton.cli.cluster.Daemon.Role;
import dev.baton.cli.cluster.ProcStat;
import java.util.Collection;
import java.util.HashMap;
import java.util.Map;

/** CPU time of processes at one moment, by pid, in microseconds. */
record CpuMeter(Map<Long, Long> micros) {
  private static final long MICROS_PER_TICK = 1_000_000 / ProcStat.TICKS_PER_SECOND;

  /** Of these processes and of this one. */
  static CpuMeter read(Collection<Daemon> processes) {
    Map<Long, Long> micros = new HashMap<>();
    processes.forEach(process -> read(process.pid(), micros));
    read(ProcessHandle.current().pid(), micros);
    return new CpuMeter(micros);
  }

  private static void read(long pid, Map<Long, Long> into) {
    ProcStat.read(pid).ifPresent(stat -> into.put(pid, stat.cpuTicks() * MICROS_PER_TICK));
  }

  /** What processes of a role have used since; one that started since counts from its start. */
  long since(CpuMeter before, Collection<Daemon> processes, Role role) {
    return processes.stream()
        .filter(process -> process.role() == role)
        .mapToLong(process -> since(before, process.pid()))
        .sum();
  }

  long since(CpuMeter before, long pid) {
    return micros.getOrDefault(pid, 0L) - before.micros.getOrDefault(pid, 0L);
  }
}
