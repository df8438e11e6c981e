/** What a job does, drawn from a seed. */
package dev.dstl.changelog.differential.history;
