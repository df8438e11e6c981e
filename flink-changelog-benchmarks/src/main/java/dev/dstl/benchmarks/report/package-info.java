/** Results of a demo run, compared as a table and as bars. */
package dev.dstl.benchmarks.report;
