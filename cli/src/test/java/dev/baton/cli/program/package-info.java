/** Tests of what programs made of commands share. */
@NullMarked
package dev.baton.cli.program;

import org.jspecify.annotations.NullMarked;
