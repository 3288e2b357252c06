import { beforeAll, expect, test } from "vitest";
import {
  type Compose,
  type ComposeService,
  composeEnvironmentOf,
  createDatabasePasswords,
  readCompose,
} from "../../src/compose-file.ts";

/** Services in docker-compose.yml whose images this repository builds. */
const ownServices = ["identity", "kyc", "clients", "payments", "webhooks", "gateway", "sandbox"];
const thirdPartyServices = ["postgres", "kafka"];

let compose: Compose;
let entries: [name: string, service: ComposeService][];
let longRunning: typeof entries;
beforeAll(async () => {
  compose = await readCompose();
  entries = Object.entries(compose.services);
  longRunning = entries.filter(([name]) => !name.endsWith("-migrate"));
});

test("docker-compose.yml contains PostgreSQL, Kafka, all services, and all containers on which they depend", () => {
  expect(longRunning.map(([name]) => name).sort()).toEqual([...thirdPartyServices, ...ownServices].sort());
  for (const [name, service] of entries) {
    const dependencies = Array.isArray(service.depends_on) ? service.depends_on : Object.keys(service.depends_on ?? {});
    for (const dependency of dependencies)
      expect(compose.services, `${name} depends on ${dependency}`).toHaveProperty(dependency);
  }
});

test("docker-compose.yml mounts volumes for the data of PostgreSQL, Kafka and the sandbox", () => {
  const dataFolders = {
    postgres: "/var/lib/postgresql",
    kafka: compose.services["kafka"]?.environment?.["KAFKA_LOG_DIRS"],
    sandbox: compose.services["sandbox"]?.environment?.["SANDBOX_DATA_DIR"],
  };
  for (const [name, folder] of Object.entries(dataFolders)) {
    const mounts = (compose.services[name]?.volumes ?? []).map((mount) => mount.split(":"));
    const [volume] = mounts.find(([, target]) => target === folder) ?? [];
    expect(volume !== undefined && volume in compose.volumes, `${name} keeps ${folder} in a volume`).toBe(true);
  }
});

test("PostgreSQL's health check in docker-compose.yml uses TCP, so that the check fails while PostgreSQL is being initialized", () => {
  expect(compose.services["postgres"]?.healthcheck?.test.join(" ")).toMatch(/^CMD pg_isready .*-h 127\.0\.0\.1/);
});

test("docker-compose.yml sets a restart policy and a health check for every long-running container", () => {
  for (const [name, { restart, healthcheck }] of longRunning) {
    expect([name, restart]).toEqual([name, "unless-stopped"]);
    expect(healthcheck?.test, name).toBeDefined();
  }
});

test("the health checks in docker-compose.yml run only bash or pg_isready, and never start a JVM or a Node process", () => {
  for (const [name, { healthcheck }] of longRunning) {
    const [kind, program, ...args] = healthcheck?.test ?? [];
    expect([name, kind]).toEqual([name, "CMD"]);
    expect(["bash", "pg_isready"], name).toContain(program);
    expect(args.join(" "), name).not.toMatch(/\b(java|node|npx)\b|kafka-|\.sh/);
  }
});

test("docker-compose.yml limits memory and log size, turns off core files and drops all Linux capabilities of every container", () => {
  for (const [name, service] of entries) {
    expect(service.cap_drop, name).toEqual(["ALL"]);
    expect(service.security_opt, name).toContain("no-new-privileges:true");
    expect(service.ulimits, name).toEqual({ core: 0 });
    expect(service.mem_limit, name).toMatch(/^\d+[mg]$/);
    expect(service.logging?.options, name).toMatchObject({ "max-size": "10m", "max-file": "5" });
    if (!thirdPartyServices.includes(name)) expect([name, service.read_only]).toEqual([name, true]);
  }
});

test("database URLs in docker-compose.yml contain no password, so that a password can contain any characters", async () => {
  const values = createDatabasePasswords((name) => `the/pass'word of ${name}`);
  const usedPasswords = new Set<string>();
  for (const [name] of entries) {
    const { DATABASE_URL, DATABASE_PASSWORD } = composeEnvironmentOf(compose, name, values);
    expect(DATABASE_URL ?? "", name).not.toContain("the/pass");
    if (!DATABASE_URL) continue;
    const service = name.replace("-migrate", "").toUpperCase();
    const role = name.endsWith("-migrate") ? "OWNER" : "DATABASE";
    expect([name, DATABASE_PASSWORD]).toEqual([name, `the/pass'word of ${service}_${role}_PASSWORD`]);
    usedPasswords.add(DATABASE_PASSWORD ?? "");
  }
  expect(usedPasswords.size).toBe(10);
  // The init script of PostgreSQL, which creates the roles, gets all passwords.
  expect(composeEnvironmentOf(compose, "postgres", values)).toMatchObject(values);
});

test("docker-compose.yml pins the version of each third-party image", () => {
  for (const name of thirdPartyServices) expect(compose.services[name]?.image, name).toMatch(/:\d+\.\d+(\.\d+)?$/);
});
