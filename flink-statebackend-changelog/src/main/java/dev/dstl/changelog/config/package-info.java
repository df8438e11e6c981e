/** Configuration keys of the changelog state backend and their checked values. */
package dev.dstl.changelog.config;
