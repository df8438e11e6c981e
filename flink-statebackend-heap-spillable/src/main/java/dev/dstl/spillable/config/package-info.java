/**
 * Configuration keys and the checked values made from them. Two classes and a package all the same:
 * the keys are what users see, and arbiter and backend both depend on nothing but their values.
 */
package dev.dstl.spillable.config;
