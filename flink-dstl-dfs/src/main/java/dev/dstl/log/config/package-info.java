/** Configuration keys of the changelog storage and their checked values. */
package dev.dstl.log.config;
