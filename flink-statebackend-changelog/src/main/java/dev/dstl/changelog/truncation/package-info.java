/** When the beginning of a log may go. */
package dev.dstl.changelog.truncation;
