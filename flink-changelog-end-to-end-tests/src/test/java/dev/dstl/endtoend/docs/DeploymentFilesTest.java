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

package dev.dstl.endtoend.docs;

import static java.util.stream.Collectors.toList;
import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.FileSystems;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * The files in docker/ and kubernetes/ are valid, refer to existing things, and agree with each
 * other.
 */
class DeploymentFilesTest {

    private static final Path DOCKER = Documentation.ROOT.resolve("docker");
    private static final Path KUBERNETES = Documentation.ROOT.resolve("kubernetes");

    private static final String FLINK_PROPERTIES = "FLINK_PROPERTIES";
    private static final Pattern IMAGE = Pattern.compile("[a-z0-9./-]+:[\\w.-]+");
    private static final Pattern PARALLELISM =
            Pattern.compile("flink run --detached --parallelism (\\d+) ");
    private static final Pattern COPY = Pattern.compile("^COPY (?:--\\S+ )*(\\S+) ");

    @Test
    void theConfigurationOfEveryFlinkServiceHoldsKeysAndValuesThatExist() throws Exception {
        for (String service : List.of("jobmanager", "taskmanager")) {
            SnippetsTest.check(
                    DOCKER.resolve("compose.yaml"), new FlinkKeys(), configuration(service));
        }
    }

    @Test
    void jobManagerAndTaskManagersHaveOneImageAndOneConfiguration() {
        assertThat(service("jobmanager").get("image"))
                .isEqualTo(service("taskmanager").get("image"));
        assertThat(configuration("jobmanager")).isEqualTo(configuration("taskmanager"));
        assertThat(configuration("jobmanager"))
                .containsEntry("jobmanager.rpc.address", "jobmanager");
        assertThat(StrictYaml.map(service("taskmanager").get("deploy")))
                .containsEntry("replicas", 2);
    }

    /** Whichever of them is killed: a recovery is to be seen, and there is room for it. */
    @Test
    void theJobRunsOnEveryTaskManager_andOneFewerHasSlotsForIt() {
        String page = Documentation.page("docker.md");
        Matcher run = PARALLELISM.matcher(page);
        assertThat(run.find()).isTrue();
        int parallelism = Integer.parseInt(run.group(1));
        int replicas =
                (Integer) StrictYaml.map(service("taskmanager").get("deploy")).get("replicas");
        int slots = (Integer) configuration("taskmanager").get("taskmanager.numberOfTaskSlots");

        assertThat(configuration("jobmanager"))
                .containsEntry("taskmanager.load-balance.mode", "SLOTS");
        assertThat(parallelism).isBetween(replicas, (replicas - 1) * slots);
        assertThat(page).contains("docker kill dstl-taskmanager-1\n");
        assertThat(read(DOCKER.resolve("compose.yaml"))).containsEntry("name", "dstl");
    }

    @Test
    void everyImageHasAVersion() {
        for (String service : services().keySet()) {
            assertThat((String) service(service).get("image"))
                    .as(service)
                    .matches(IMAGE)
                    .doesNotEndWith(":latest");
        }
    }

    @Test
    void theStoreIsAServiceAndHasTheBucketAndTheKeysThatFlinkUses() {
        Map<String, Object> flink = configuration("taskmanager");
        Map<String, Object> store = StrictYaml.map(service("s3").get("environment"));
        String createsBucket =
                StrictYaml.strings(service("bucket").get("entrypoint"))
                        .reduce("", (all, next) -> all + " " + next);

        assertThat(flink)
                .containsEntry("s3.endpoint", "http://s3:9000")
                .containsEntry("s3.access-key", store.get("MINIO_ROOT_USER"))
                .containsEntry("s3.secret-key", store.get("MINIO_ROOT_PASSWORD"));
        assertThat(createsBucket)
                .contains(
                        (String) flink.get("s3.endpoint"),
                        (String) flink.get("s3.access-key"),
                        (String) flink.get("s3.secret-key"),
                        "store/flink");
        for (String key :
                List.of(
                        "state.changelog.dstl.dfs.base-path",
                        "execution.checkpointing.dir",
                        "execution.checkpointing.savepoint-dir")) {
            assertThat((String) flink.get(key)).as(key).startsWith("s3://flink/");
        }
    }

    @Test
    void everyMountedFileExists() {
        List<String> mounted = services().keySet().stream().flatMap(this::mounts).collect(toList());

        assertThat(mounted).hasSizeGreaterThan(4);
        assertThat(mounted)
                .allSatisfy(mount -> assertThat(DOCKER.resolve(source(mount))).isRegularFile());
    }

    @Test
    void everyServiceThatIsWaitedForExists() {
        for (String service : services().keySet()) {
            Object waitsFor = service(service).getOrDefault("depends_on", List.of());
            List<?> names =
                    waitsFor instanceof Map
                            ? List.copyOf(StrictYaml.map(waitsFor).keySet())
                            : StrictYaml.list(waitsFor);
            assertThat(services().keySet()).as(service).containsAll(strings(names));
        }
    }

    @Test
    void prometheusReadsOurRulesAndTheReporterOfEveryFlinkProcess() {
        Map<String, Object> prometheus = read(DOCKER.resolve("prometheus.yml"));
        Map<String, Object> job = StrictYaml.maps(prometheus.get("scrape_configs")).get(0);
        Map<String, Object> discovery = StrictYaml.maps(job.get("dns_sd_configs")).get(0);

        assertThat(mounts("prometheus"))
                .contains("../docs/prometheus/dstl-rules.yml:" + ruleFile(prometheus) + ":ro")
                .anyMatch(mount -> mount.startsWith("./prometheus.yml:/etc/prometheus/"));
        assertThat(strings(StrictYaml.list(discovery.get("names"))))
                .containsExactlyInAnyOrder("jobmanager", "taskmanager");
        assertThat(configuration("taskmanager"))
                .containsEntry("metrics.reporter.prom.port", discovery.get("port"));
    }

    private static String ruleFile(Map<String, Object> prometheus) {
        List<?> files = StrictYaml.list(prometheus.get("rule_files"));
        assertThat(files).hasSize(1);
        return (String) files.get(0);
    }

    @Test
    void grafanaHasPrometheusAndOurDashboard() {
        Map<String, Object> source =
                StrictYaml.maps(read(DOCKER.resolve("grafana/datasources.yml")).get("datasources"))
                        .get(0);
        Map<String, Object> provider =
                StrictYaml.maps(read(DOCKER.resolve("grafana/dashboards.yml")).get("providers"))
                        .get(0);
        String dashboards = (String) StrictYaml.map(provider.get("options")).get("path");

        assertThat(source)
                .containsEntry("type", "prometheus")
                .containsEntry("url", "http://prometheus:9090");
        assertThat(strings(StrictYaml.list(service("prometheus").get("ports"))))
                .contains("9090:9090");
        assertThat(mounts("grafana"))
                .contains("../docs/grafana/dstl.json:" + dashboards + "/dstl.json:ro");
    }

    @Test
    void theImageIsOfTheLineOfTheJarAndCopiesWhatTheBuildLeaves() {
        String line = Poms.property("flink.line");
        String dockerfile = Documentation.text(DOCKER.resolve("Dockerfile"));
        List<String> copied =
                Pattern.compile(COPY.pattern(), Pattern.MULTILINE)
                        .matcher(dockerfile)
                        .results()
                        .map(copy -> copy.group(1))
                        .collect(toList());

        assertThat(dockerfile).containsPattern("(?m)^FROM flink:" + Pattern.quote(line) + "[.-]");
        assertThat(copied).hasSize(3);
        assertMatches(copied.get(0), "dstl-flink/target/dstl-flink-" + line + "-" + Poms.version());
        assertMatches(copied.get(1), "dstl-tool/target/dstl-tool-" + Poms.version() + "-all");
        assertThat(Documentation.ROOT.resolve(copied.get(2))).isExecutable();
        assertThat(Documentation.text(Documentation.ROOT.resolve(".dockerignore")))
                .contains(copied.stream().map(file -> "!" + file + "\n").collect(toList()));
        assertThat((String) service("jobmanager").get("image")).endsWith(":" + line);
    }

    private static void assertMatches(String glob, String jar) {
        assertThat(
                        FileSystems.getDefault()
                                .getPathMatcher("glob:" + glob)
                                .matches(Path.of(jar + ".jar")))
                .as("%s matches %s.jar", glob, jar)
                .isTrue();
    }

    @Test
    void theCronJobSearchesWhereTheDeploymentsWrite_withTheirImageAndAccount() {
        Map<String, Object> cronJob = read(KUBERNETES.resolve("orphans-cronjob.yaml"));
        Map<String, Object> pod = StrictYaml.map(cronJob.get("spec"));
        for (String level : List.of("jobTemplate", "spec", "template", "spec")) {
            pod = StrictYaml.map(pod.get(level));
        }
        Map<String, Object> container = StrictYaml.maps(pod.get("containers")).get(0);
        Map<String, Object> deployment =
                StrictYaml.map(read(KUBERNETES.resolve("flink-deployment.yaml")).get("spec"));
        Map<String, Object> flink = StrictYaml.map(deployment.get("flinkConfiguration"));

        assertThat(container).containsEntry("image", deployment.get("image"));
        assertThat(pod).containsEntry("serviceAccountName", deployment.get("serviceAccount"));
        assertThat(strings(StrictYaml.list(container.get("command"))))
                .containsExactly(
                        "/opt/flink/bin/dstl",
                        "orphans",
                        "--delete",
                        "--checkpoints",
                        (String) flink.get("execution.checkpointing.dir"),
                        (String) flink.get("state.changelog.dstl.dfs.base-path"));
    }

    @Test
    void pagesShowWhatIsInTheFiles() {
        assertThat(Documentation.text(DOCKER.resolve("Dockerfile")))
                .contains(
                        Documentation.blocks(Documentation.page("docker.md"), "dockerfile").get(0));
        assertThat(Documentation.blocks(Documentation.page("deployment.md"), "yaml"))
                .contains(
                        Documentation.text(KUBERNETES.resolve("flink-deployment.yaml")),
                        Documentation.text(KUBERNETES.resolve("flink-session.yaml")));
        assertThat(Documentation.blocks(Documentation.page("kubernetes.md"), "yaml"))
                .contains(Documentation.text(KUBERNETES.resolve("orphans-cronjob.yaml")));
    }

    @Test
    void theDeploymentCanBeUpgradedFromItsLastCheckpoint() {
        Map<String, Object> deployment = read(KUBERNETES.resolve("flink-deployment.yaml"));
        Map<String, Object> spec = StrictYaml.map(deployment.get("spec"));

        assertThat(StrictYaml.map(spec.get("job"))).containsEntry("upgradeMode", "last-state");
        assertThat(StrictYaml.map(spec.get("flinkConfiguration")))
                .containsKeys(
                        "high-availability.type",
                        "high-availability.storageDir",
                        "execution.checkpointing.dir",
                        "state.changelog.dstl.dfs.base-path");
    }

    @Test
    void prometheusFindsThePortOfTheReporterByItsName() {
        String monitor =
                Documentation.blocks(Documentation.page("kubernetes.md"), "yaml").stream()
                        .filter(block -> block.contains("kind: PodMonitor"))
                        .findFirst()
                        .orElseThrow();
        for (String file : List.of("flink-deployment.yaml", "flink-session.yaml")) {
            Map<String, Object> cluster =
                    StrictYaml.documents(Documentation.text(KUBERNETES.resolve(file))).get(0);
            Map<String, Object> spec = StrictYaml.map(cluster.get("spec"));
            Map<String, Object> pod = StrictYaml.map(spec.get("podTemplate"));
            Map<String, Object> container =
                    StrictYaml.maps(StrictYaml.map(pod.get("spec")).get("containers")).get(0);
            Map<String, Object> port = StrictYaml.maps(container.get("ports")).get(0);
            assertThat(monitor).contains("- port: " + port.get("name"));
            assertThat(StrictYaml.map(spec.get("flinkConfiguration")))
                    .containsEntry(
                            "metrics.reporter.prom.port",
                            String.valueOf(port.get("containerPort")));
        }
    }

    @Test
    void theResourcesAreOfTheLineOfTheJar() {
        String line = Poms.property("flink.line");
        for (String file : List.of("flink-deployment.yaml", "flink-session.yaml")) {
            Map<String, Object> first =
                    StrictYaml.documents(Documentation.text(KUBERNETES.resolve(file))).get(0);
            Map<String, Object> spec = StrictYaml.map(first.get("spec"));
            assertThat(spec).as(file).containsEntry("flinkVersion", "v" + line.replace('.', '_'));
            assertThat((String) spec.get("image")).as(file).endsWith(":" + line);
        }
    }

    private static Map<String, Object> services() {
        return StrictYaml.map(read(DOCKER.resolve("compose.yaml")).get("services"));
    }

    private static Map<String, Object> service(String name) {
        return StrictYaml.map(services().get(name));
    }

    private static Map<String, Object> configuration(String service) {
        Object environment = service(service).get("environment");
        return StrictYaml.document((String) StrictYaml.map(environment).get(FLINK_PROPERTIES));
    }

    /** The files, not the volumes, that {@code service} mounts. */
    private Stream<String> mounts(String service) {
        return StrictYaml.strings(service(service).getOrDefault("volumes", List.of()))
                .filter(mount -> mount.startsWith("."));
    }

    private static String source(String mount) {
        return mount.substring(0, mount.indexOf(':'));
    }

    private static List<String> strings(List<?> values) {
        return values.stream().map(String::valueOf).collect(toList());
    }

    private static Map<String, Object> read(Path file) {
        return StrictYaml.document(Documentation.text(file));
    }
}
