/** Spilled entries as bytes: an index and a log of blocks per state and key group. */
package dev.dstl.spillable.entry;
