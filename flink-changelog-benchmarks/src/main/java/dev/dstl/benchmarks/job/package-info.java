/** Endless jobs with generated input, measured by the end-to-end benchmarks. */
package dev.dstl.benchmarks.job;
