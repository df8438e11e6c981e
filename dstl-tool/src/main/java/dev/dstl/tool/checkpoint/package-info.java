/** Checkpoint metadata, read without the job: changelog handles and their segments. */
package dev.dstl.tool.checkpoint;
