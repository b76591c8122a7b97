/**
 * What programs made of commands share: where they print, how a failure becomes one sentence and an
 * exit code, the options that every command has.
 *
 * <p>Reading order: {@link dev.baton.cli.program.Program}, {@link dev.baton.cli.program.Context},
 * {@link dev.baton.cli.program.Common}.
 *
 * <p>Must not: know any command.
 */
@NullMarked
package dev.baton.cli.program;

import org.jspecify.annotations.NullMarked;
