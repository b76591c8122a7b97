package dev.baton.cli.demo;

import dev.baton.proto.v1.TaskCounts;

/** When the leader is killed: some work is done, some is under way, more is to come. */
public final class Moment {
  static final int ENDED = 1;
  static final int RUNNING = 2;
  static final int WAITING = 5;

  private Moment() {}

  public static boolean isNow(TaskCounts counts) {
    return counts.getSuccess() >= ENDED
        && counts.getRunning() >= RUNNING
        && counts.getPending() + counts.getReady() >= WAITING;
  }
}
