/** Tests of the protocol: rule by rule, and as a random walk. */
@NullMarked
package dev.baton.worker.protocol;

import org.jspecify.annotations.NullMarked;
