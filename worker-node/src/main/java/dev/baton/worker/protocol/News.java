package dev.baton.worker.protocol;

import com.google.protobuf.MessageLite;
import dev.baton.proto.v1.WorkerMessage;
import java.util.Iterator;
import java.util.function.BiConsumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** One message to the leader, filled up to the limit of a message. */
final class News {
  /** A message has at most 1 MiB; the rest is for the fields around the lists. */
  static final int MAX_BYTES = (1 << 20) - 4096;

  /** Tag and length of an entry. */
  private static final int ENTRY_OVERHEAD = 6;

  private final WorkerMessage.Builder message;
  private int bytes;

  News(WorkerMessage.Builder message) {
    this.message = message;
  }

  /** Moves names out of {@code names}, and what they stand for into the message, while it fits. */
  <T extends MessageLite> void take(
      Iterable<AttemptId> names,
      Function<AttemptId, @Nullable T> value,
      BiConsumer<WorkerMessage.Builder, T> add) {
    for (Iterator<AttemptId> all = names.iterator(); all.hasNext(); ) {
      T next = value.apply(all.next());
      if (next != null) {
        int size = next.getSerializedSize() + ENTRY_OVERHEAD;
        if (bytes > 0 && bytes + size > MAX_BYTES) {
          return;
        }
        bytes += size;
        add.accept(message, next);
      }
      all.remove();
    }
  }

  WorkerMessage build() {
    return message.build();
  }
}
