/**
 * Shared by {@code ./demo} and {@code ./bench}: backends, cluster settings, the simulated object
 * store, and the files of a run.
 */
package dev.dstl.benchmarks.harness;
