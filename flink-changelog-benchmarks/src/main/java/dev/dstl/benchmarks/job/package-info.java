/** The jobs that the whole-job benchmarks measure; endless, with generated input. */
package dev.dstl.benchmarks.job;
