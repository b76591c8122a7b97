package dev.baton.scheduler.loop;

import dev.baton.coordination.Answer;
import dev.baton.scheduler.journal.StateLoader;
import dev.baton.scheduler.journal.UnknownEventException;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The reading of the whole state, repeated with growing pauses until it succeeds. Only the newest
 * reading counts; used on the loop's strand.
 */
final class Loading {
  private static final Logger LOG = LoggerFactory.getLogger(Loading.class);
  private static final Pause FIRST_PAUSE = Pause.upTo(Duration.ofSeconds(5));

  private final Loop loop;
  private final StateLoader loader;
  private final Listener listener;
  private Pause pause = FIRST_PAUSE;
  private int newest;

  interface Listener {
    void onLoaded(StateLoader.Loaded loaded);

    /** It failed: the listener says when to try again. */
    void onLoadFailed();

    /** The journal holds what this version does not know. */
    void onUnknownEvent(UnknownEventException cause);
  }

  Loading(Loop loop, Listener listener) {
    this.loop = loop;
    this.loader = new StateLoader(loop.reads(), loop.keys(), loop.strand(), loop.generation());
    this.listener = listener;
  }

  void begin() {
    long began = loop.strand().nanoTime();
    int mine = ++newest;
    boolean afterFailure = !pause.equals(FIRST_PAUSE);
    Answer.of(
        loader.load(afterFailure),
        loop.strand(),
        loaded -> {
          if (mine == newest) {
            pause = FIRST_PAUSE;
            Duration took = Duration.ofNanos(loop.strand().nanoTime() - began);
            loop.listener().onLoaded(loaded.keysRead(), took);
            listener.onLoaded(loaded);
          }
        },
        failure -> {
          if (mine == newest) {
            failed(failure);
          }
        });
  }

  /** Runs {@code load} after a pause, unless another reading has begun by then. */
  void later(Runnable load) {
    int mine = ++newest;
    loop.strand()
        .schedule(
            pause.now(),
            () -> {
              if (mine == newest) {
                load.run();
              }
            });
    pause = pause.longer();
  }

  /** Whatever is being read, or would be, is of no interest any more. */
  void close() {
    newest++;
  }

  private void failed(Throwable failure) {
    UnknownEventException unknown = unknownEvent(failure);
    if (unknown != null) {
      listener.onUnknownEvent(unknown);
    } else {
      LOG.warn("Loading the state failed and is tried again: {}", failure.toString());
      listener.onLoadFailed();
    }
  }

  private static @Nullable UnknownEventException unknownEvent(@Nullable Throwable failure) {
    for (Throwable t = failure; t != null; t = t.getCause()) {
      if (t instanceof UnknownEventException unknown) {
        return unknown;
      }
    }
    return null;
  }
}
