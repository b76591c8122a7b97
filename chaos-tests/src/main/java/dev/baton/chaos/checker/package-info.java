/**
 * The judge: pure functions of a history.
 *
 * <p>Reading order: {@link dev.baton.chaos.checker.Check}, {@link dev.baton.chaos.checker.Judge},
 * then one class a promise.
 *
 * <p>Must not: read anything but a history. What a history cannot show is unknown, never valid.
 */
@NullMarked
package dev.baton.chaos.checker;

import org.jspecify.annotations.NullMarked;
