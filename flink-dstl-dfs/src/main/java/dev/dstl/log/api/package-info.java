/** One record: its kinds, its bytes, and how to read it without allocating. */
package dev.dstl.log.api;
