/** Random jobs on our backend and on a plain one. */
package dev.dstl.changelog.differential;
