/** Records in memory: appended to pooled pages by the task thread and sealed into batches. */
package dev.dstl.log.batch;
