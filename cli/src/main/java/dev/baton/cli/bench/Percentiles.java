package dev.baton.cli.bench;

import org.HdrHistogram.ConcurrentHistogram;
import org.HdrHistogram.Histogram;

/** Of a set of durations, in milliseconds. */
public record Percentiles(long count, double p50, double p99, double max) {
  private static final double MICROS = 1000.0;

  static Percentiles of(Histogram micros) {
    return new Percentiles(
        micros.getTotalCount(),
        micros.getValueAtPercentile(50) / MICROS,
        micros.getValueAtPercentile(99) / MICROS,
        micros.getMaxValue() / MICROS);
  }

  /** Takes durations of any thread, in microseconds, with three digits. */
  static Histogram histogram() {
    return new ConcurrentHistogram(3);
  }

  static void record(Histogram histogram, long nanos) {
    histogram.recordValue(Math.max(0, nanos / 1000));
  }
}
