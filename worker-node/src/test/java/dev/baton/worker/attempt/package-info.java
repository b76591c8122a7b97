/** Tests of attempts, on a real strand. */
@NullMarked
package dev.baton.worker.attempt;

import org.jspecify.annotations.NullMarked;
