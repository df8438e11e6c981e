/** Random jobs on DSTL and on a plain backend. */
package dev.dstl.changelog.differential;
