/**
 * The handlers that every worker brings along: {@code echo}, {@code sleep}, {@code text_process},
 * and {@code shell}, which must be asked for by name. They use the public API only, as a user's
 * handler would.
 *
 * <p>Must not: know anything of the worker around them.
 */
@NullMarked
package dev.baton.worker.builtin;

import org.jspecify.annotations.NullMarked;
