/**
 * Sets the measures of many runs side by side: medians, spreads and ratios, and a table of them.
 */
package dev.dstl.benchmarks.comparison;
