/** State as the job uses it: every change goes to the delegate and then to the changelog. */
package dev.dstl.changelog.state;
