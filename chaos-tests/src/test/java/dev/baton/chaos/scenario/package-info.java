@NullMarked
package dev.baton.chaos.scenario;

import org.jspecify.annotations.NullMarked;
