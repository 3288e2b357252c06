import { execFile } from "node:child_process";
import { appendFile, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { BlockList, isIPv6 } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { stopTimeoutMs } from "@amana/runtime";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parse, parseAllDocuments } from "yaml";
import { createComposeValues } from "../../src/compose-file.ts";

/**
 * Tests of the manifests in deploy/kustomize. Most tests read the files without an external tool.
 * The other tests need the programs kustomize and kubeconform, whose paths are in TEST_KUSTOMIZE
 * and TEST_KUBECONFORM. With TEST_KUBECONFIG, a cluster's API server also checks the manifests in a
 * dry run.
 */
const root = join(import.meta.dirname, "..", "..", "..");
const manifests = join(root, "deploy", "kustomize");
const owners = ["identity", "kyc", "clients", "payments", "webhooks"];
const services = ["gateway", ...owners];
const overlays = ["dev", "production"];
const run = promisify(execFile);

// biome-ignore lint/suspicious/noExplicitAny: the tests check the fields that they read.
type Manifest = any;
const read = async (...path: string[]): Promise<Manifest[]> =>
  parseAllDocuments(await readFile(join(manifests, ...path), "utf8")).map((document) => document.toJS());
async function readSingle(kind: string, ...path: string[]): Promise<Manifest> {
  const matching = (await read(...path)).filter((manifest) => manifest.kind === kind);
  expect(matching, `${kind} in ${path.join("/")}`).toHaveLength(1);
  return matching[0];
}
const nameLabel = "app.kubernetes.io/name";

describe("the common component of all services", () => {
  let spec: Manifest;
  let container: Manifest;
  beforeAll(async () => {
    const deployment = await readSingle("Deployment", "components", "service", "deployment.yaml");
    spec = deployment.spec.template.spec;
    container = spec.containers[0];
    expect(deployment.spec.strategy.rollingUpdate).toEqual({ maxSurge: 1, maxUnavailable: 0 });
  });

  test.each(services)(
    "the Deployment of %s uses the common component, and its container has the name that the component patches",
    async (service) => {
      const { components } = await readSingle("Kustomization", "base", service, "kustomization.yaml");
      expect(components).toEqual(expect.arrayContaining(["../../components/service"]));
      const deployment = await readSingle("Deployment", "base", service, "deployment.yaml");
      expect(deployment.spec.template.spec.containers.map(({ name }: Manifest) => name)).toEqual(["service"]);
    },
  );

  test("a service's pod runs without privileges and without a token for the cluster API", () => {
    const unprivileged = { runAsNonRoot: true, runAsUser: 1000, seccompProfile: { type: "RuntimeDefault" } };
    expect(spec.securityContext).toMatchObject(unprivileged);
    const restricted = { allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: { drop: ["ALL"] } };
    expect(container.securityContext).toEqual(restricted);
    expect([spec.automountServiceAccountToken, spec.enableServiceLinks]).toEqual([false, false]);
    expect(container.resources).toMatchObject({ requests: expect.anything(), limits: { memory: expect.any(String) } });
  });

  test("a service's liveness probe does not depend on the database, and its readiness probe does", () => {
    expect(container.livenessProbe.httpGet).toEqual({ path: "/livez", port: "metrics" });
    expect(container.readinessProbe.httpGet).toEqual({ path: "/readyz", port: "metrics" });
    // The startup probe uses the same path as the liveness probe, and permits a start of 180 s.
    expect(container.startupProbe.httpGet).toEqual(container.livenessProbe.httpGet);
    expect(container.startupProbe.periodSeconds * container.startupProbe.failureThreshold).toBeGreaterThanOrEqual(180);
  });

  test("a pod's termination grace period is longer than the sum of its pre-stop pause and the longest graceful shutdown", async () => {
    const pauseSeconds = container.lifecycle.preStop.sleep.seconds;
    expect(pauseSeconds).toBeGreaterThan(0);
    expect(spec.terminationGracePeriodSeconds).toBeGreaterThan(stopTimeoutMs / 1000 + pauseSeconds);
    // Callers keep connections to the gateway open. During STOP_DELAY_MS, the gateway can still close
    // each connection with a response.
    const { configMapGenerator } = await readSingle("Kustomization", "base", "gateway", "kustomization.yaml");
    expect(configMapGenerator[0].literals).toContain("STOP_DELAY_MS=5000");
  });

  test("the topology spread constraints of a service spread its replicas over nodes and zones", () => {
    const keys = spec.topologySpreadConstraints.map(({ topologyKey }: Manifest) => topologyKey);
    expect(keys).toEqual(["kubernetes.io/hostname", "topology.kubernetes.io/zone"]);
    for (const { matchLabelKeys } of spec.topologySpreadConstraints) expect(matchLabelKeys).toContain(nameLabel);
  });

  test("the namespace of the services enforces the restricted pod security standard", async () => {
    const { metadata } = await readSingle("Namespace", "base", "namespace", "namespace.yaml");
    expect(metadata.labels["pod-security.kubernetes.io/enforce"]).toBe("restricted");
  });
});

describe.each(services)("the manifests of %s", (service) => {
  test(`the Service and the disruption budget of ${service} select only the pods of the Deployment ${service}`, async () => {
    const deployment = await readSingle("Deployment", "base", service, "deployment.yaml");
    expect(deployment.spec.selector.matchLabels).toEqual({ [nameLabel]: service });
    expect(deployment.spec.template.metadata.labels[nameLabel]).toBe(service);
    expect((await readSingle("Service", "base", service, "deployment.yaml")).spec.selector).toEqual({ [nameLabel]: service });
    expect((await readSingle("PodDisruptionBudget", "base", service, "scaling.yaml")).spec).toEqual({
      maxUnavailable: 1,
      selector: { matchLabels: { [nameLabel]: service } },
    });
  });

  test(`the Deployment of ${service} has its own service account without a token`, async () => {
    const deployment = await readSingle("Deployment", "base", service, "deployment.yaml");
    const account = await readSingle("ServiceAccount", "base", service, "deployment.yaml");
    expect(deployment.spec.template.spec.serviceAccountName).toBe(account.metadata.name);
    expect([account.metadata.name, account.automountServiceAccountToken]).toEqual([service, false]);
  });

  test(`the HorizontalPodAutoscaler of ${service} keeps at least three replicas and uses only existing metrics`, async () => {
    const { spec } = await readSingle("HorizontalPodAutoscaler", "base", service, "scaling.yaml");
    expect(spec.scaleTargetRef.name).toBe(service);
    expect(spec.minReplicas).toBe(3);
    const metricNames = spec.metrics.map(
      ({ resource, pods, external }: Manifest) => resource?.name ?? (pods ?? external).metric.name,
    );
    const ownMetrics: Record<string, string> = {
      gateway: "amana_http_requests_under_way",
      webhooks: "amana_deliveries_oldest_due_seconds",
    };
    expect(metricNames).toEqual(["cpu", ...(ownMetrics[service] ? [ownMetrics[service]] : [])]);
    const documented = await readFile(join(root, "docs", "metrics.md"), "utf8");
    for (const name of metricNames.slice(1)) expect(documented).toContain(`| \`${name}\` |`);
  });
});

test.each(["postgres", "kafka", "sandbox"])(
  "the Kubernetes overlay dev has one StatefulSet for %s, whose readiness probe has a timeout of at least 5 s",
  async (name) => {
    const { spec } = await readSingle("StatefulSet", "overlays", "dev", name, `${name}.yaml`);
    expect(spec.template.spec.containers[0].readinessProbe.timeoutSeconds).toBeGreaterThanOrEqual(5);
  },
);

test.each(owners)("a Job with the image of %s runs the service's migrations as the owner of the tables", async (service) => {
  const { components } = await readSingle("Kustomization", "base", service, "kustomization.yaml");
  expect(components).toContain("../../components/migration");
  const { metadata, spec } = await readSingle("Job", "base", service, "migrate.yaml");
  expect(metadata.name).toBe(`${service}-migrate-version`);
  const [container] = spec.template.spec.containers;
  expect(container).toMatchObject({
    name: "service",
    image: `amana-${service}`,
    command: ["node", "migrate.js"],
  });
  // The Job's label differs from the service's label, so that the Service and the disruption budget
  // do not select the Job's pod.
  expect(spec.template.metadata.labels[nameLabel]).toBe(`${service}-migrate`);
  for (const overlay of overlays) {
    const { configMapGenerator, replacements } = await readSingle(
      "Kustomization",
      "overlays",
      overlay,
      service,
      "kustomization.yaml",
    );
    const [url] = configMapGenerator.find(({ name }: Manifest) => name === `${service}-migrate`).literals;
    expect(url).toContain(`//amana_${service}_owner@`);
    // The Job's name contains the version, because an existing Job cannot be changed.
    expect(replacements[0].targets[0]).toMatchObject({ select: { kind: "Job" }, fieldPaths: ["metadata.name"] });
  }
});

describe("the network policies", () => {
  /** Returns a name for a rule's peer, which is a pod, a namespace or an address range. */
  const nameOfPeer = ({ podSelector, namespaceSelector, ipBlock }: Manifest): string =>
    podSelector?.matchLabels?.[nameLabel] ??
    namespaceSelector?.matchLabels?.["kubernetes.io/metadata.name"] ??
    (ipBlock.except ? "outside" : ipBlock.cidr);
  /** Returns the peer and the port of each connection that the rules permit. */
  const listConnections = (rules: Manifest[] = [], side: "to" | "from"): string[] =>
    rules.flatMap((rule) => {
      // A rule without peers would permit all peers. A rule without ports would permit all ports.
      expect(rule[side]?.length, JSON.stringify(rule)).toBeGreaterThan(0);
      expect(rule.ports?.length, JSON.stringify(rule)).toBeGreaterThan(0);
      const portsOf = ({ port, endPort }: Manifest) => (endPort ? `${port}-${endPort}` : port);
      return rule[side].flatMap((end: Manifest) => rule.ports.map((range: Manifest) => `${nameOfPeer(end)} ${portsOf(range)}`));
    });

  test("the Kubernetes network policies deny all traffic by default", async () => {
    const [defaultPolicy] = (await read("base", "namespace", "namespace.yaml")).filter(({ kind }) => kind === "NetworkPolicy");
    expect(defaultPolicy.spec).toEqual({ podSelector: {}, policyTypes: ["Ingress", "Egress"] });
  });

  const data = ["postgres 5432", "kafka 9092"];
  const outside = ["outside 443", "outside 443"];
  const mail = ["outside 465", "outside 465", "outside 587", "outside 587"];
  const allowed: Record<string, { from: string[]; to: string[] }> = {
    gateway: { from: ["ingress http"], to: owners.map((service) => `${service} 4000`) },
    identity: { from: ["gateway rpc"], to: data },
    kyc: { from: ["gateway rpc"], to: [...data, "clients 4000", ...outside] },
    clients: { from: ["gateway rpc", "kyc rpc"], to: data },
    payments: { from: ["gateway rpc"], to: [...data, ...outside, ...mail] },
    webhooks: { from: ["gateway rpc"], to: [...data, "outside 1-65535", "outside 1-65535"] },
  };
  test.each(services)(
    "the network policy of %s permits exactly the connections that the test lists for this service",
    async (service) => {
      const [policy, migration] = (await read("base", service, "network.yaml")).filter(({ kind }) => kind === "NetworkPolicy");
      expect(policy.spec.podSelector.matchLabels).toEqual({ [nameLabel]: service });
      expect(policy.spec.policyTypes).toEqual(["Ingress", "Egress"]);
      expect(listConnections(policy.spec.egress, "to").sort()).toEqual(allowed[service]?.to.sort());
      expect(listConnections(policy.spec.ingress, "from").sort()).toEqual(
        [...(allowed[service]?.from ?? []), "monitoring metrics"].sort(),
      );
      if (service === "gateway") return;
      expect(migration.spec.podSelector.matchLabels).toEqual({ [nameLabel]: `${service}-migrate` });
      expect(migration.spec.policyTypes).toEqual(["Ingress", "Egress"]);
      expect(listConnections(migration.spec.egress, "to")).toEqual(["postgres 5432"]);
      expect(migration.spec.ingress).toBeUndefined();
    },
  );

  test("the network policy of webhooks permits public addresses, but no private, link-local, metadata or reserved address", async () => {
    const [policy] = await read("base", "webhooks", "network.yaml");
    const blocks = policy.spec.egress.flatMap(({ to }: Manifest) => to.flatMap(({ ipBlock }: Manifest) => ipBlock ?? []));
    const listOf = (cidrs: string[]) => {
      const list = new BlockList();
      for (const cidr of cidrs) {
        const [network = "", prefix] = cidr.split("/");
        list.addSubnet(network, Number(prefix), isIPv6(network) ? "ipv6" : "ipv4");
      }
      return list;
    };
    const isAllowed = (address: string) => {
      const family = isIPv6(address) ? "ipv6" : "ipv4";
      return blocks.some(
        ({ cidr, except }: Manifest) => listOf([cidr]).check(address, family) && !listOf(except).check(address, family),
      );
    };
    const internalAddresses = [
      "0.0.0.0",
      "10.1.2.3",
      "100.64.0.1",
      "100.100.100.200",
      "127.0.0.1",
      "168.63.129.16",
      "169.254.169.254",
    ];
    internalAddresses.push(
      "172.31.255.255",
      "192.0.0.192",
      "192.168.1.1",
      "198.18.0.1",
      "224.0.0.1",
      "255.255.255.255",
      "::",
      "::1",
    );
    internalAddresses.push(
      "64:ff9b::a9fe:a9fe",
      "2001::1",
      "2001:db8::1",
      "2002:7f00:1::",
      "3fff::1",
      "4000::1",
      "fd00:ec2::254",
    );
    internalAddresses.push("fe80::1", "fec0::1", "ff02::1");
    const publicAddresses = ["93.184.215.14", "1.1.1.1", "172.32.0.1", "2606:2800:21f:cb07:6820:80da:af6b:8b2c", "2a00:1450::1"];
    expect(internalAddresses.filter(isAllowed)).toEqual([]);
    expect(publicAddresses.filter(isAllowed)).toEqual(publicAddresses);
  });

  test("the tracing component permits every service, but no migration Job, to connect to a span collector", async () => {
    const [component] = await read("components", "tracing", "kustomization.yaml");
    const [deployment, policy] = component.patches;
    const [setting] = parse(deployment.patch).spec.template.spec.containers[0].env;
    const [addedRule] = parse(policy.patch);
    expect(policy.target).toEqual({ kind: "NetworkPolicy", name: services.join("|") });
    expect([addedRule.op, addedRule.path, listConnections([addedRule.value], "to")]).toEqual([
      "add",
      "/spec/egress/-",
      ["monitoring 4318"],
    ]);
    expect(setting).toEqual({ name: "OTEL_EXPORTER_OTLP_ENDPOINT", value: "http://opentelemetry-collector.monitoring:4318" });
  });
});

describe("the settings in the Kubernetes overlays", () => {
  let folder: string;
  let values: Record<string, string>;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "amana-kubernetes-"));
    values = await createComposeValues(folder);
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  const literals = async (name: string, ...path: string[]): Promise<[string, string][]> => {
    const { configMapGenerator = [] } = await readSingle("Kustomization", ...path, "kustomization.yaml");
    const maps = configMapGenerator.filter((map: Manifest) => map.name === name);
    return maps.flatMap(({ literals }: Manifest) =>
      literals.map((text: string) => [text.slice(0, text.indexOf("=")), text.slice(text.indexOf("=") + 1)]),
    );
  };
  const envOf = (deployment: Manifest): [string, string][] =>
    deployment.spec.template.spec.containers[0].env.map(({ name, value }: Manifest) => [name, value]);

  /** Returns a service's settings in an overlay. A secret's setting contains only its file name. */
  async function settingsOf(overlay: string, service: string): Promise<Record<string, string>> {
    const common = await readSingle("Component", "overlays", overlay, "common", "kustomization.yaml");
    const patches: Manifest[] = [];
    for (const patch of common.patches.filter(({ target }: Manifest) => target.kind === "Deployment")) {
      patches.push(
        patch.patch
          ? parseAllDocuments(patch.patch)[0]?.toJS()
          : await readSingle("Deployment", "overlays", overlay, "common", patch.path),
      );
    }
    if (overlay === "production" && service !== "gateway") {
      patches.push(await readSingle("Deployment", "overlays", overlay, "with-database", "deployment.yaml"));
    }
    return Object.fromEntries([
      ["NODE_ENV", "production"],
      ["HOST", "0.0.0.0"],
      ...(await literals(service, "base", service)),
      ...(await literals(service, "overlays", overlay, service)),
      ...envOf(await readSingle("Deployment", "components", "service", "deployment.yaml")),
      ...patches.flatMap(envOf),
    ]);
  }

  const secretOf = (service: string, name: string): string =>
    ({
      CALLER_PRIVATE_KEY: values[service === "kyc" ? "KYC_PRIVATE_KEY" : "GATEWAY_PRIVATE_KEY"],
      EVENT_MAC_KEYS: ["PAYMENTS", "KYC", "AUDIT"].map((topic) => values[`EVENT_KEY_${topic}`]).join(","),
      DATABASE_PASSWORD: "it's/a?p@ss",
    })[name] ??
    values[name] ??
    "any";

  test.each(overlays.flatMap((overlay) => services.map((service) => [overlay, service] as const)))(
    "the Kubernetes overlay %s contains valid settings for %s, with a file name in place of each secret",
    async (overlay, service) => {
      const settings = await settingsOf(overlay, service);
      for (const [name, path] of Object.entries(settings).filter(([name]) => name.endsWith("_FILE"))) {
        const file = join(folder, overlay, service, path);
        await mkdir(dirname(file), { recursive: true });
        await writeFile(file, secretOf(service, name.replace(/_FILE$/, "")));
        settings[name] = file;
      }
      const { readConfig } = await import(join(root, "services", service, "src", "config.ts"));
      // In the overlay production, the public keys are placeholders, which a service rejects.
      if (overlay === "production" && service !== "gateway")
        expect(() => readConfig(settings)).toThrow(/GATEWAY_PUBLIC_KEYS: entry 1 is not an Ed25519 key of this format/);
      const keys = overlay === "production" && {
        GATEWAY_PUBLIC_KEYS: values["GATEWAY_PUBLIC_KEYS"],
        KYC_PUBLIC_KEYS: values["KYC_PUBLIC_KEYS"],
      };
      expect(() => readConfig({ ...settings, ...keys })).not.toThrow();
      for (const name of Object.keys(settings)) {
        expect(
          name.endsWith("_FILE") || !/PASSWORD|PRIVATE|SECRET|TOKEN|MAC_KEYS|ENCRYPTION|FINGERPRINT|CHECKOUT_KEYS/.test(name),
          name,
        ).toBe(true);
      }
    },
  );

  test.each(services)("the Kubernetes overlay dev creates the secrets that %s reads", async (service) => {
    const { secretGenerator } = await readSingle("Kustomization", "overlays", "dev", service, "kustomization.yaml");
    const { files } = secretGenerator.find(({ name }: Manifest) => name === service);
    const createdSecrets = new Set(files.map((file: string) => file.replace("secrets/", "")));
    const settings = Object.entries(await settingsOf("dev", service)).filter(([name]) => name.endsWith("_FILE"));
    const secretPaths = settings.map(([, path]) => path).filter((path) => path.startsWith("/run/secrets/amana/"));
    for (const path of secretPaths) {
      const name = path.replace("/run/secrets/amana/", "");
      // The gateway signs caller tokens but accepts none, so it needs no public keys.
      if (service === "gateway" && name.endsWith("_PUBLIC_KEYS")) continue;
      expect(createdSecrets).toContain(name);
    }
  });
});

const { TEST_KUSTOMIZE: kustomize, TEST_KUBECONFORM: kubeconform, TEST_KUBECONFIG: kubeconfig } = process.env;
const missing = Object.entries({ TEST_KUSTOMIZE: kustomize, TEST_KUBECONFORM: kubeconform, TEST_KUBECONFIG: kubeconfig })
  .filter(([, value]) => !value)
  .map(([name]) => name);
if (missing.length > 0) {
  process.stderr.write(
    `\nSKIPPED the tests of the manifests with external tools. Set these variables to run the tests: ${missing.join(", ")}.\n\n`,
  );
}

describe.skipIf(!kustomize)("checks of the manifests by external tools", () => {
  let folder: string;
  const built = new Map<string, string>();
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "amana-kustomize-"));
    const copy = join(folder, "deploy");
    await run("cp", ["-r", join(root, "deploy"), copy]);
    // The repository lacks the files with secrets, because each developer creates them. This test
    // uses empty files.
    const dev = join(copy, "kustomize", "overlays", "dev");
    for (const name of await readdir(dev)) {
      const file = join(dev, name, "kustomization.yaml");
      const text = await readFile(file, "utf8").catch(() => "");
      for (const [, path = ""] of text.matchAll(/(secrets\/[\w.-]+)/g)) {
        await mkdir(join(dev, name, "secrets"), { recursive: true });
        await writeFile(join(dev, name, path), "");
      }
    }
    const build = async (overlay: string, name = overlay) => {
      const { stdout } = await run(kustomize as string, ["build", join(copy, "kustomize", "overlays", overlay)], {
        maxBuffer: 16 << 20,
      });
      const file = join(folder, `${name.replace("/", "-")}.yaml`);
      await writeFile(file, stdout);
      built.set(name, file);
    };
    for (const folderName of overlays.flatMap((overlay) => [overlay, ...services.map((service) => `${overlay}/${service}`)])) {
      await build(folderName);
    }
    const common = join(copy, "kustomize", "overlays", "production", "common", "kustomization.yaml");
    await appendFile(common, "\ncomponents: [../../../components/tracing]\n");
    await build("production", "traced");
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  test("the Kubernetes overlay production contains exactly the objects of its service folders and of the namespace", async () => {
    const idsOf = async (name: string) => {
      const objects = parseAllDocuments(await readFile(built.get(name) as string, "utf8")).map((document) => document.toJS());
      return objects.map(({ kind, metadata }: Manifest) => `${kind} ${metadata.name}`);
    };
    const parts = (await Promise.all(services.map((service) => idsOf(`production/${service}`)))).flat();
    const namespace = ["Namespace amana", "NetworkPolicy default-deny", "NetworkPolicy names-are-resolved"];
    expect((await idsOf("production")).sort()).toEqual([...parts, ...namespace].sort());
  });

  test("the tracing component of kustomize sets the span collector for every service and for no other pod", async () => {
    const objects = parseAllDocuments(await readFile(built.get("traced") as string, "utf8")).map((document) => document.toJS());
    const namesOf = (kind: string, part: string) =>
      objects
        .filter((manifest: Manifest) => manifest.kind === kind && JSON.stringify(manifest).includes(part))
        .map(({ metadata }) => metadata.name);
    expect(namesOf("Deployment", "OTEL_EXPORTER_OTLP_ENDPOINT").sort()).toEqual([...services].sort());
    expect(namesOf("NetworkPolicy", '"port":4318').sort()).toEqual([...services].sort());
  });

  test.skipIf(!kubeconform)("kubeconform accepts all fields of the Kubernetes manifests", async () => {
    const [command = "", ...options] = (kubeconform as string).split(" ");
    for (const file of built.values()) await run(command, [...options, "-strict", file]);
  });

  test.skipIf(!kubeconfig)("the Kubernetes API server accepts all manifests without a warning in a dry run", async () => {
    const env = { ...process.env, KUBECONFIG: kubeconfig };
    await run("kubectl", ["apply", "-k", join(manifests, "base", "namespace")], { env });
    for (const overlay of overlays) {
      const { stderr } = await run("kubectl", ["apply", "--dry-run=server", "-f", built.get(overlay) as string], { env });
      expect(stderr.replaceAll(/^Warning: metadata.name: .*must not contain dots.*\n/gm, "")).toBe("");
    }
  });
});
