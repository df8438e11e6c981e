/** State as the job sees it: every mutation goes to the delegate and then into the log. */
package dev.dstl.changelog.state;
