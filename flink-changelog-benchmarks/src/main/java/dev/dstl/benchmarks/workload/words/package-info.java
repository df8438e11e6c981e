/** The text workload: the words of any file, counted in windows and in all. */
package dev.dstl.benchmarks.workload.words;
