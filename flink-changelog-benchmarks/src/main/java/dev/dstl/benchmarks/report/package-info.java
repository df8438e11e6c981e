/** Results of a run, and the table and the bars that set runs side by side. */
package dev.dstl.benchmarks.report;
