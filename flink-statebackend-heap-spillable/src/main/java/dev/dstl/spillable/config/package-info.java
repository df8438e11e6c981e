/** Configuration keys and the checked values made from them. */
package dev.dstl.spillable.config;
