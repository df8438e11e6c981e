/**
 * What the result of a workload must be, computed in plain Java without Flink and without the
 * workload's code, and the comparison of a job's result with it, to the record.
 */
package dev.dstl.benchmarks.verification;
