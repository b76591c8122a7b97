/** Tests of the local cluster on real processes. */
@NullMarked
package dev.baton.cli.cluster;

import org.jspecify.annotations.NullMarked;
