/** The command line tool {@code dstl}. */
package dev.dstl.tool;
