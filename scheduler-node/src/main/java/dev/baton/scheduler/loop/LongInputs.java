package dev.baton.scheduler.loop;

import dev.baton.coordination.Answer;
import dev.baton.scheduler.journal.Outputs;
import dev.baton.scheduler.model.AttemptRef;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;

/**
 * Long outputs and run parameters that expressions need. Each is read once for all who wait for it,
 * few at a time, and kept for a while, since the tasks of a fan-out need the same. They never
 * change. A read that fails is made again for as long as the term lasts.
 */
final class LongInputs {
  private static final int READS = 16;
  private static final long KEPT_CHARS = 32L << 20;
  private static final Pause FIRST_PAUSE = Pause.upTo(Duration.ofSeconds(5));

  private final Loop loop;
  private final Outputs outputs;
  private final Map<Place, List<Consumer<Optional<String>>>> waiting = new HashMap<>();
  private final Deque<Place> queue = new ArrayDeque<>();
  private final LinkedHashMap<Place, String> kept = new LinkedHashMap<>(16, 0.75f, true);
  private long keptChars;
  private int reading;
  private boolean closed;

  /** Where a text stands. */
  sealed interface Place {
    record OutputOf(AttemptRef attempt) implements Place {}

    record ParamsOf(String runId, long nonce) implements Place {}
  }

  LongInputs(Loop loop) {
    this.loop = loop;
    this.outputs = new Outputs(loop.reads(), loop.keys(), loop.strand());
  }

  void close() {
    closed = true;
    waiting.clear();
    queue.clear();
  }

  /** Empty: it is gone. */
  void read(Place place, Consumer<Optional<String>> then) {
    String known = kept.get(place);
    if (known != null) {
      then.accept(Optional.of(known));
      return;
    }
    List<Consumer<Optional<String>>> others = waiting.get(place);
    if (others != null) {
      others.add(then);
      return;
    }
    waiting.put(place, new ArrayList<>(List.of(then)));
    queue.addLast(place);
    readNext();
  }

  private void readNext() {
    while (reading < READS && !queue.isEmpty()) {
      reading++;
      fetch(queue.removeFirst(), FIRST_PAUSE);
    }
  }

  private void fetch(Place place, Pause pause) {
    Answer.of(
        ask(place),
        loop.strand(),
        found -> {
          if (!closed) {
            reading--;
            found.ifPresent(text -> keep(place, text));
            List<Consumer<Optional<String>>> all = waiting.remove(place);
            readNext();
            if (all != null) {
              all.forEach(then -> then.accept(found));
            }
          }
        },
        failure -> {
          if (!closed) {
            loop.strand().schedule(pause.now(), () -> fetch(place, pause.longer()));
          }
        });
  }

  private CompletableFuture<Optional<String>> ask(Place place) {
    return switch (place) {
      case Place.OutputOf(AttemptRef attempt) -> outputs.output(attempt);
      case Place.ParamsOf(String runId, long nonce) -> outputs.params(runId, nonce);
    };
  }

  private void keep(Place place, String text) {
    kept.put(place, text);
    keptChars += text.length();
    while (keptChars > KEPT_CHARS) {
      keptChars -= kept.pollFirstEntry().getValue().length();
    }
  }
}
