package dev.baton.node;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/** A setting that has a flag of its own beside {@code --set path=value}. */
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.RECORD_COMPONENT)
public @interface Flag {
  /** The flag with its dashes, such as {@code --id}. */
  String value();

  /** One line for {@code --help}. */
  String help();
}
