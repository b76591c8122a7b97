/**
 * {@link dev.baton.coordination.Etcd} on a real cluster: jetcd's messages and stubs over one gRPC
 * channel per member.
 *
 * <p>The only package that imports jetcd or knows gRPC's statuses. All of a client runs on one
 * thread of its own, the event loop of its connections, so that no client waits for another's
 * answers.
 *
 * <p>Must not: repeat a call, keep state of leases or keys.
 */
@NullMarked
package dev.baton.coordination.jetcd;

import org.jspecify.annotations.NullMarked;
