/** What somebody who waits for a run sees: a bar on a terminal, lines elsewhere. */
package dev.dstl.benchmarks.display;
