/** State as the job sees it: every state change goes to the delegate and then into the log. */
package dev.dstl.changelog.state;
