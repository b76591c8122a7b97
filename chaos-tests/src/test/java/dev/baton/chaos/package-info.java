@NullMarked
package dev.baton.chaos;

import org.jspecify.annotations.NullMarked;
