/** The format of records: how changes of each kind of state are encoded. */
package dev.dstl.changelog.record;
