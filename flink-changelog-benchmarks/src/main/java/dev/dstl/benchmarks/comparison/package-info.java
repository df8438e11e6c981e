/** Comparison of runs: medians, spreads and ratios, and a table of them. */
package dev.dstl.benchmarks.comparison;
