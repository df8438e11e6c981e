/** The entry points of the changelog state backend for jobs and configuration files. */
package dev.dstl.changelog;
