/** The changelog as the state backend sees it while it writes: append, persist, truncate. */
package dev.dstl.log.writer;
