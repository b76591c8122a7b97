/**
 * The nouns of the scheduler: validated, immutable values that all its other packages speak in.
 *
 * <p>Must not: import another package of the scheduler, do I/O, or look at a clock.
 */
@NullMarked
package dev.baton.scheduler.model;

import org.jspecify.annotations.NullMarked;
