/**
 * The folder of one chaos run: the history, the verdict, the logs, and a page to look at.
 *
 * <p>Must not: know how a run is made; a folder is judged again by what is in it.
 */
@NullMarked
package dev.baton.chaos.report;

import org.jspecify.annotations.NullMarked;
