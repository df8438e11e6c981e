/** Records in memory: appended to pooled pages by the task thread, sealed into batches. */
package dev.dstl.log.batch;
