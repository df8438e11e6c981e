/** The state backend and its keyed backend, created from the other packages. */
package dev.dstl.changelog.backend;
