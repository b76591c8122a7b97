/**
 * Whether a worker, in whatever language, keeps the rules of docs/worker-protocol.md.
 *
 * <p>Two scheduler nodes that say what a check wants ({@code ProbeNode}) stand before one real
 * worker; what it says is noted ({@code Book}) and held against one {@code Rule} after the other
 * ({@code Checks}). The nodes are as unkind as a network and a fail-over: they repeat, fall silent,
 * speak out of turn, and take calls away.
 *
 * <p>Must not: know how a worker is made; print.
 */
@NullMarked
package dev.baton.cli.conformance;

import org.jspecify.annotations.NullMarked;
