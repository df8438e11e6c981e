/** How far the processes of one machine have come, in small files that survive a killed process. */
package dev.dstl.benchmarks.progress;
