/*
 * Copyright the DSTL authors.
 *
 * Licensed under the Apache License, Version 2.0 (the "License");
 * you may not use this file except in compliance with the License.
 * You may obtain a copy of the License at
 *
 *     http://www.apache.org/licenses/LICENSE-2.0
 *
 * Unless required by applicable law or agreed to in writing, software
 * distributed under the License is distributed on an "AS IS" BASIS,
 * WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
 * See the License for the specific language governing permissions and
 * limitations under the License.
 */

package dev.dstl.log.config;

/**
 * Lists the keys of a module, so that any other key under the common prefix is reported as
 * misspelt. Loaded as a service, since the modules share the prefix but do not depend on each
 * other.
 */
public interface OptionCatalog {

    /** Returns a class whose public constants of type ConfigOption are all keys of the module. */
    Class<?> options();
}
