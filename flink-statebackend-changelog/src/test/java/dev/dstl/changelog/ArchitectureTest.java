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

package dev.dstl.changelog;

import static com.tngtech.archunit.base.DescribedPredicate.not;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideOutsideOfPackages;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.type;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;
import dev.dstl.log.execution.DaemonThreads;
import dev.dstl.log.execution.FailureReport;
import dev.dstl.log.testing.ClassKnots;
import dev.dstl.log.testing.PackageLayers;
import dev.dstl.log.testing.PackageSizes;
import dev.dstl.log.testing.SourceFiles;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Paths;
import org.junit.jupiter.api.Test;

@AnalyzeClasses(
        packages = {"dev.dstl.changelog", "org.apache.flink.state.changelog"},
        importOptions = ImportOption.DoNotIncludeTests.class)
class ArchitectureTest {

    private static final int LARGEST_KNOT = 3;

    private static final PackageLayers LAYERS =
            new PackageLayers(
                    "dev.dstl.changelog",
                    ".",
                    "backend",
                    "checkpoint restore",
                    "materialization",
                    "replay state",
                    "record",
                    "config delegate metrics schema sorting");

    @ArchTest
    static void packagesUseOnlyLowerLayers(JavaClasses classes) {
        assertThat(LAYERS.violations(classes)).isEmpty();
    }

    @Test
    void architecturePageShowsTheLayers() throws IOException {
        assertThat(Files.readString(Paths.get("..", "docs", "architecture.md")))
                .contains(LAYERS.text());
    }

    /** Besides the contract, both create threads and report failures to others in the same way. */
    @ArchTest
    static final ArchRule theStateBackendKnowsOnlyTheContractOfTheStorage =
            noClasses()
                    .that()
                    .resideInAPackage("dev.dstl.changelog..")
                    .should()
                    .dependOnClassesThat(
                            resideInAPackage("dev.dstl.log..")
                                    .and(
                                            resideOutsideOfPackages(
                                                    "dev.dstl.log.api", "dev.dstl.log.config"))
                                    .and(not(type(DaemonThreads.class)))
                                    .and(not(type(FailureReport.class))));

    @ArchTest
    static void knotsOfClassesAreSmall(JavaClasses classes) {
        assertThat(ClassKnots.largerThan(LARGEST_KNOT, classes)).isEmpty();
    }

    /** Flink determines the name of the package and its classes. */
    @ArchTest
    static void aPackageHasThreeClasses(JavaClasses classes) {
        assertThat(PackageSizes.small(classes)).containsExactly("org.apache.flink.state.changelog");
    }

    @ArchTest
    static final ArchRule namesSayWhatAClassIs =
            noClasses().should().haveNameMatching(".*(Impl|Helper|Utils?|Manager)$");

    /** Flink loads and recognizes these two classes by name. */
    @ArchTest
    static final ArchRule onlyTheShimsLiveOutsideTheProjectRoot =
            classes()
                    .that()
                    .doNotHaveFullyQualifiedName(
                            "org.apache.flink.state.changelog.ChangelogStateBackend")
                    .and()
                    .doNotHaveFullyQualifiedName(
                            "org.apache.flink.state.changelog.DeactivatedChangelogStateBackend")
                    .should()
                    .resideInAPackage("dev.dstl..");

    @Test
    void aFileCanBeReadInOneSitting() throws IOException {
        assertThat(SourceFiles.tooLong()).isEmpty();
    }

    @Test
    void aClassNeedsNoBanners() throws IOException {
        assertThat(SourceFiles.withBanners()).isEmpty();
    }
}
