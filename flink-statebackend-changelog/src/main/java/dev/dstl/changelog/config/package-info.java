/** What the user can set: keys, defaults and the values they become. */
package dev.dstl.changelog.config;
