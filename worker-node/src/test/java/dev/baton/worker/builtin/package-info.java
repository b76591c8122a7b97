/** Tests of the built-in handlers; those of the shell run real processes. */
@NullMarked
package dev.baton.worker.builtin;

import org.jspecify.annotations.NullMarked;
