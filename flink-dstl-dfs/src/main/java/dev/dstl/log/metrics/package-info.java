/**
 * What the changelog reports to the operator. One class, since every other package counts something
 * here, and since the list of metrics is read as a whole.
 */
package dev.dstl.log.metrics;
