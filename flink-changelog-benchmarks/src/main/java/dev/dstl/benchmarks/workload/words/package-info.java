/** The text workload: words of a file, counted per window and in total. */
package dev.dstl.benchmarks.workload.words;
