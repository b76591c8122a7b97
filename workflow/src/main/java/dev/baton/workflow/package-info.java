/**
 * A workflow definition: reading it from YAML or JSON, judging it, and evaluating its expressions.
 * A file is judged alike by a client without a cluster and by every scheduler node.
 *
 * <p>Must not: know runs, attempts or workers; do I/O; look at a clock.
 */
@NullMarked
package dev.baton.workflow;

import org.jspecify.annotations.NullMarked;
