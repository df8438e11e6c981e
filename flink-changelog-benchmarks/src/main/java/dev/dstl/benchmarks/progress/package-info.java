/** Progress of local processes, in small mapped files that survive a killed process. */
package dev.dstl.benchmarks.progress;
