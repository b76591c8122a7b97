@NullMarked
package dev.baton.chaos.history;

import org.jspecify.annotations.NullMarked;
