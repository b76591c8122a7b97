package dev.baton.scheduler.journal;

import dev.baton.coordination.Etcd.KeyValue;
import java.util.List;

/**
 * How many entries to ask for next, so that an answer measures about 4 MiB: few when they are
 * large, many when they are small. It grows fourfold at most. Large entries after small ones could
 * still make an answer that no client takes, so after a failure it stays at what is safe for the
 * largest entries.
 */
final class PageSize {
  private static final int TARGET_BYTES = 4 << 20;
  private static final int SAFE = 64;
  private static final int MOST = 1_000;

  private final boolean cautious;
  private int size = SAFE;

  /**
   * @param cautious a read has just failed
   */
  PageSize(boolean cautious) {
    this.cautious = cautious;
  }

  int next() {
    return size;
  }

  /** A page has come. */
  void learn(List<KeyValue> page) {
    if (cautious || page.isEmpty()) {
      return;
    }
    long bytes = 0;
    for (KeyValue keyValue : page) {
      bytes += keyValue.value().size() + keyValue.key().size();
    }
    long fitting = TARGET_BYTES / Math.max(1, bytes / page.size());
    size = Math.clamp(fitting, 8, Math.min(MOST, size * 4));
  }
}
