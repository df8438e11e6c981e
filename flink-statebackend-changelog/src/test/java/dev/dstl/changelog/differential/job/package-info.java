/** The keyed operators of a job, whatever is below them. */
package dev.dstl.changelog.differential.job;
