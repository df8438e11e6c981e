/** Segment files: encoding of batches, reading and verification. */
package dev.dstl.log.segment;
