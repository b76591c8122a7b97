/** Tests of what all environments share. */
@NullMarked
package dev.baton.chaos.environment;

import org.jspecify.annotations.NullMarked;
