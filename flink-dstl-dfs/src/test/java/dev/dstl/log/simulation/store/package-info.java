/** A store that does what stores do: delay, hang, fail, lie, and show files late. */
package dev.dstl.log.simulation.store;
