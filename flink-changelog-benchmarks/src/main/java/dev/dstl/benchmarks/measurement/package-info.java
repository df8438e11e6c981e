/** Results of the end-to-end benchmarks, as JSON. */
package dev.dstl.benchmarks.measurement;
