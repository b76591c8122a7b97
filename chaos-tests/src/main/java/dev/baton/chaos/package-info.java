/**
 * The command {@code baton chaos}.
 *
 * <p>Reading order: {@link dev.baton.chaos.ChaosMain}, {@code RunCommand}; then the packages
 * scenario, nemesis, environment, workload, history, checker, report.
 */
@NullMarked
package dev.baton.chaos;

import org.jspecify.annotations.NullMarked;
