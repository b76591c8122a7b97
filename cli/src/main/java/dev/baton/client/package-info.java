/**
 * The client of the users' API: finds a node that answers, repeats what may be repeated, follows a
 * run through a fail-over.
 *
 * <p>Start with {@link dev.baton.client.BatonClient}. It is used by the commands, and can be used
 * by any program as it stands: it knows nothing of terminals, files or local clusters.
 *
 * <p>Must not: print, read the environment, or interpret what a run means.
 */
@NullMarked
package dev.baton.client;

import org.jspecify.annotations.NullMarked;
