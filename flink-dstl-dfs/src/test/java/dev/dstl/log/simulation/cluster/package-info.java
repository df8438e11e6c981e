/** A job: its tasks on TaskManagers with the real log, and a JobManager that owns checkpoints. */
package dev.dstl.log.simulation.cluster;
