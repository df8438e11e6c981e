/** The log as the wrapper sees it while it writes: append, persist, truncate. */
package dev.dstl.log.writer;
