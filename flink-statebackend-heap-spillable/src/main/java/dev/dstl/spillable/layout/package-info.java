/**
 * How the kinds of state lie in spilled entries: one entry, fragments of a list, buckets of a map.
 */
package dev.dstl.spillable.layout;
