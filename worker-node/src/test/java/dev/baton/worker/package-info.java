/** Tests of the worker as a whole: on a real etcd, real streams and real processes. */
@NullMarked
package dev.baton.worker;

import org.jspecify.annotations.NullMarked;
