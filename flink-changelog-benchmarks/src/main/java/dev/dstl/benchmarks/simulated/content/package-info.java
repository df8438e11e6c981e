/** Objects of the simulated store, in memory or in a directory that processes share. */
package dev.dstl.benchmarks.simulated.content;
