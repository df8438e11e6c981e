/** Whether a checkpoint could be restored as far as its log goes. */
package dev.dstl.tool.verification;
