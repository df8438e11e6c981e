/** The log as the wrapper sees it while it restores: a handle becomes records. */
package dev.dstl.log.replay;
