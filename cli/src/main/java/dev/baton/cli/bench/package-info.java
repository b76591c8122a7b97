/**
 * The benchmark: a load on a fresh local cluster, and what it measures.
 *
 * <p>Results are counted where they are durable, in the journal in etcd; times of handlers come
 * from the workers' own trace files. Reading order: {@link dev.baton.cli.bench.Bench}.
 *
 * <p>Must not: be imported by other packages than the commands'.
 */
@NullMarked
package dev.baton.cli.bench;

import org.jspecify.annotations.NullMarked;
