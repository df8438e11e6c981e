/** What a seed makes the changelog cope with. */
package dev.dstl.log.simulation.world;
