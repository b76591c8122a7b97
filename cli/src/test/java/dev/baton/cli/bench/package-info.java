/** Tests of what the benchmark counts and sums. */
@NullMarked
package dev.baton.cli.bench;

import org.jspecify.annotations.NullMarked;
