/** What happens when: virtual time, lanes of events, and threads that run one at a time. */
package dev.dstl.log.simulation.schedule;
