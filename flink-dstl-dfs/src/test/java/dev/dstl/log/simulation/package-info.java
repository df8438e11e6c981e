/** End-to-end jobs on a simulated cluster and store, in an order that a seed decides. */
package dev.dstl.log.simulation;
