/**
 * What the loop does, as Micrometer meters. Never a run's id as a tag.
 *
 * <p>Must not: change what it measures.
 */
@NullMarked
package dev.baton.scheduler.metrics;

import org.jspecify.annotations.NullMarked;
