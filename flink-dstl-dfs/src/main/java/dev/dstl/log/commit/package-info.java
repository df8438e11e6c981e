/** Group commit: batches of all tasks of a job become segments. */
package dev.dstl.log.commit;
