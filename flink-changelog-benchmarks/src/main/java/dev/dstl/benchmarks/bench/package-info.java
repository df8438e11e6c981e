/**
 * The command ./bench: jobs on Flink's built-in changelog, on DSTL and without a changelog,
 * compared with each other.
 */
package dev.dstl.benchmarks.bench;
