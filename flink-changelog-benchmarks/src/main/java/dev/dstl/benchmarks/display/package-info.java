/** Progress output of runs: a bar on terminals, lines elsewhere. */
package dev.dstl.benchmarks.display;
