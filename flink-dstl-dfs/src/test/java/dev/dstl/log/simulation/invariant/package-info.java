/** What must hold whatever happens, one class each. */
package dev.dstl.log.simulation.invariant;
