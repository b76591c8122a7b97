package dev.baton.scheduler.loop;

import dev.baton.scheduler.model.Refusal;
import org.jspecify.annotations.Nullable;

/** How a read is answered: with what the query gave, or with a refusal. */
public interface ReadAnswer<T> {
  void accept(@Nullable T found, @Nullable Refusal refusal);
}
