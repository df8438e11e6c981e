/** The jobs that the end-to-end benchmarks measure; endless, with generated input. */
package dev.dstl.benchmarks.job;
