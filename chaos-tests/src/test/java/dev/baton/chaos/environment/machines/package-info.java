@NullMarked
package dev.baton.chaos.environment.machines;

import org.jspecify.annotations.NullMarked;
