/** The steps of a job, generated from a seed. */
package dev.dstl.changelog.differential.history;
