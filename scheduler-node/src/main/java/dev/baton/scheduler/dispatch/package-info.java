/**
 * The wire to workers: one stream each, lists both ways, and nothing that waits for a slow one.
 *
 * <p>Must not: decide anything, or know more of the loop than what it takes and what it says.
 */
@NullMarked
package dev.baton.scheduler.dispatch;

import org.jspecify.annotations.NullMarked;
