/** What a job or a configuration file names to get the changelog backend. */
package dev.dstl.changelog;
