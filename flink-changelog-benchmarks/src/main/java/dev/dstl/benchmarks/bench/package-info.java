/** The command ./bench: whole jobs on stock, on ours and on neither, side by side. */
package dev.dstl.benchmarks.bench;
