/** The simulated cluster of a job. */
package dev.dstl.changelog.differential.world;
