/** Tests of the commands: what they print, and with which code they end. */
@NullMarked
package dev.baton.cli;

import org.jspecify.annotations.NullMarked;
