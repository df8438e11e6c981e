/**
 * Compaction of changelog runs: the {@link dev.dstl.log.compaction.CompactionPolicy} chooses, the
 * {@link dev.dstl.log.compaction.Compactor} runs one {@link dev.dstl.log.compaction.Compaction}
 * after the other, within limits of memory and time, and the {@link
 * dev.dstl.log.compaction.GatheredOutputs} are written together.
 */
package dev.dstl.log.compaction;
