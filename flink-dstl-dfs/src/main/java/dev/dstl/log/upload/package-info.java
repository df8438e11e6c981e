/** How a segment becomes durable: attempts, retries, and how much may be under way. */
package dev.dstl.log.upload;
