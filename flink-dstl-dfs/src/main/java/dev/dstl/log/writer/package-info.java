/** The changelog writer: append, persist, truncate. */
package dev.dstl.log.writer;
