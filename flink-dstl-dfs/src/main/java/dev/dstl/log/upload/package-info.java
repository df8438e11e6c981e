/** Uploads of segments: attempts, retries, hedging, timeouts and store health. */
package dev.dstl.log.upload;
