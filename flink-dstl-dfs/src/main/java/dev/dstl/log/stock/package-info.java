/** Logs that Flink's own storage {@code filesystem} wrote: read, never written. */
package dev.dstl.log.stock;
