@NullMarked
package dev.baton.chaos.workload;

import org.jspecify.annotations.NullMarked;
