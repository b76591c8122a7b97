/**
 * The demonstration: real work on a local cluster, whose leader is killed in the middle of it.
 *
 * <p>Must not: make the work slower so that the moment comes; judge by the cluster's own word
 * alone.
 */
@NullMarked
package dev.baton.cli.demo;

import org.jspecify.annotations.NullMarked;
