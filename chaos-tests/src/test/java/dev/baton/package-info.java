/** What holds for the whole project: who imports whom, and rules that no compiler checks. */
@NullMarked
package dev.baton;

import org.jspecify.annotations.NullMarked;
