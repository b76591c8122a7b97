/** Tests of what the demonstration judges by. */
@NullMarked
package dev.baton.cli.demo;

import org.jspecify.annotations.NullMarked;
