/** Tests of the client against real gRPC servers. */
@NullMarked
package dev.baton.client;

import org.jspecify.annotations.NullMarked;
