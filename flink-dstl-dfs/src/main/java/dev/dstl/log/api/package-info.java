/**
 * The contract of the changelog storage: the record with its kinds and bytes, the writer and the
 * reader, and the exception that tells of the store.
 */
package dev.dstl.log.api;
