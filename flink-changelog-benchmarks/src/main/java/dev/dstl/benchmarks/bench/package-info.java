/**
 * The command ./bench: jobs on Flink's built-in changelog, on DSTL and on neither, side by side.
 */
package dev.dstl.benchmarks.bench;
