/** The report of the benchmarks: a page with tables, and plots as SVG and PNG. */
package dev.dstl.benchmarks.page;
