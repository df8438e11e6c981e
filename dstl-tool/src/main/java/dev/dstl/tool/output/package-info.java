/**
 * How the tool says what it found: tables for people, JSON for programs, sentences for failures.
 */
package dev.dstl.tool.output;
