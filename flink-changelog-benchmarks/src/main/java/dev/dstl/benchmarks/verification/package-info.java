/**
 * The expected result of each workload, computed in plain Java without Flink and without the
 * workload's code, and its comparison with a job's result.
 */
package dev.dstl.benchmarks.verification;
