/**
 * What {@code ./demo} and {@code ./bench} share: the backends they run, the settings of their
 * clusters, the simulated object store, and the files of a run.
 */
package dev.dstl.benchmarks.harness;
