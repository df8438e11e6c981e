/** Batches as the bytes of a segment file, and back. */
package dev.dstl.log.segment;
