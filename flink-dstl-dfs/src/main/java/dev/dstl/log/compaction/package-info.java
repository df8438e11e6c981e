/**
 * Compaction of changelog runs: the {@link dev.dstl.log.compaction.CompactionPolicy} chooses, the
 * {@link dev.dstl.log.compaction.Compactor} lets one {@link dev.dstl.log.compaction.Compaction}
 * after the other read, within a share of memory and of time, and the {@link
 * dev.dstl.log.compaction.GatheredOutputs} are written together.
 */
package dev.dstl.log.compaction;
