/** Figures of a run and the table that sets runs side by side. */
package dev.dstl.benchmarks.report;
