package dev.baton.node;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * The value of a setting that nobody gave, in the form in which a user would write it. On a
 * component that is a record of settings itself: {@code "name=value,name=value"} instead of the
 * defaults that stand in that record. A setting without a default that is not nullable must be
 * given.
 */
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.RECORD_COMPONENT)
public @interface Default {
  String value();
}
