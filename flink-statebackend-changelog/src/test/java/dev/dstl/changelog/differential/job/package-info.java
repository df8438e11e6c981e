/** The keyed operators of a job, independent of the state backend. */
package dev.dstl.changelog.differential.job;
