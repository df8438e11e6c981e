/** What states and timers a keyed backend knows, by name. */
package dev.dstl.spillable.registry;
