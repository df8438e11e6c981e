/**
 * How the kinds of state lie in spilled entries: one entry, fragments of a list, buckets of a map.
 * Incremental checkpoints have these bytes, see {@link dev.dstl.spillable.layout.SpilledLayout}.
 */
package dev.dstl.spillable.layout;
