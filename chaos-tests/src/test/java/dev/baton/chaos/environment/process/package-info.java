@NullMarked
package dev.baton.chaos.environment.process;

import org.jspecify.annotations.NullMarked;
