/**
 * Compaction of changelog runs: the {@link dev.dstl.log.compaction.CompactionPolicy} chooses, the
 * {@link dev.dstl.log.compaction.Compactor} runs one {@link dev.dstl.log.compaction.Compaction} at
 * a time, within a share of memory and of time.
 */
package dev.dstl.log.compaction;
