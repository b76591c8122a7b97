/**
 * The user's commands: what is typed, what is printed, and with which code the program ends.
 *
 * <p>Reading order: {@link dev.baton.cli.Main} (the table of commands), {@link
 * dev.baton.cli.program.Context}, any command, {@link dev.baton.cli.Follower} (what {@code watch}
 * and {@code submit --wait} share). Data goes to stdout, everything else to stderr.
 *
 * <p>Must not: hold rules about workflows or runs; those are judged by the nodes.
 */
@NullMarked
package dev.baton.cli;

import org.jspecify.annotations.NullMarked;
