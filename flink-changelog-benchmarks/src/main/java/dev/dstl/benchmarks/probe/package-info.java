/** Looks from outside: into processes of this machine and into the metadata of checkpoints. */
package dev.dstl.benchmarks.probe;
