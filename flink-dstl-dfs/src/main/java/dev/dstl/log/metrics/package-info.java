/** What the log tells the operator. */
package dev.dstl.log.metrics;
