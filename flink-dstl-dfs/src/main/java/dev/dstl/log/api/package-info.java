/**
 * The contract of the changelog storage: the record with its kinds and bytes, the writer and the
 * reader.
 */
package dev.dstl.log.api;
