@NullMarked
package dev.baton.chaos.checker;

import org.jspecify.annotations.NullMarked;
