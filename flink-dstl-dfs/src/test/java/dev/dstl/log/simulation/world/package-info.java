/** What a seed makes the log cope with. */
package dev.dstl.log.simulation.world;
