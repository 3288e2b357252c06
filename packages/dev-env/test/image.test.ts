import { execFile } from "node:child_process";
import { cp, mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { validate } from "dockerfile-utils";
import { afterAll, beforeAll, expect, test } from "vitest";
import { parse } from "yaml";
import { eventually } from "../src/eventually.ts";
import { freePort } from "../src/free-port.ts";
import { readSecrets } from "../src/secrets.ts";
import { spawnServer } from "../src/server-process.ts";

const run = promisify(execFile);
const root = join(import.meta.dirname, "..", "..", "..");
const bin = join(root, "node_modules", ".bin");
const services = ["identity", "kyc", "clients", "payments", "webhooks", "gateway", "sandbox"];

interface ComposeService {
  build?: { args?: { SERVICE?: string } };
  command?: string[];
  environment?: Record<string, string>;
  depends_on?: string[] | Record<string, unknown>;
}

let compose: { services: Record<string, ComposeService> };
let folder: string;

beforeAll(async () => {
  compose = parse(await readFile(join(root, "docker-compose.yml"), "utf8"), { merge: true });
  folder = await mkdtemp(join(tmpdir(), "amana-image-"));
  await run(join(root, "deploy", "make-certificates.sh"), [join(folder, "certificates"), "1"]);
});
afterAll(() => rm(folder, { recursive: true, force: true }));

test("the Dockerfile has no errors", async () => {
  expect(validate(await readFile(join(root, "deploy", "Dockerfile"), "utf8"))).toEqual([]);
});

test("no settings file and no key enters the build", async () => {
  const ignored = (await readFile(join(root, ".dockerignore"), "utf8")).split("\n");
  expect(ignored).toEqual(expect.arrayContaining(["**/.env", "**/.env.*", "**/*.pem", "**/*.key"]));
});

test("docker-compose.yml has PostgreSQL, Kafka and every service, and everything it depends on", () => {
  expect(Object.keys(compose.services)).toEqual(expect.arrayContaining(["postgres", "kafka", ...services]));
  for (const [name, service] of Object.entries(compose.services)) {
    const needed = Array.isArray(service.depends_on) ? service.depends_on : Object.keys(service.depends_on ?? {});
    for (const other of needed) expect(compose.services, `${name} depends on ${other}`).toHaveProperty(other);
  }
});

/**
 * Compose's settings of a service as they would arrive, with its secrets filled in and its ports
 * free.
 */
async function settingsOf(service: string): Promise<Record<string, string>> {
  const secret = Buffer.alloc(32, 3).toString("base64");
  const { generateApiKey } = await import("@amana/api-keys");
  const { gatewayKey, kycKey } = await readSecrets(folder);
  const values: Record<string, string> = {
    GATEWAY_PRIVATE_KEY: gatewayKey.privateKey,
    GATEWAY_PUBLIC_KEYS: gatewayKey.publicKey,
    KYC_PRIVATE_KEY: kycKey.privateKey,
    KYC_PUBLIC_KEYS: kycKey.publicKey,
    FINGERPRINT_KEYS: secret,
    EVENT_KEY_PAYMENTS: `payments.v1=k1:${secret}`,
    EVENT_KEY_KYC: `kyc.v1=k1:${secret}`,
    EVENT_KEY_AUDIT: `audit.v1=k1:${secret}`,
    POSTGRES_PASSWORD: "secret",
    SECRET_ENCRYPTION_KEYS: `one:${secret}`,
    BOOTSTRAP_ADMIN_KEY: generateApiKey("ak_"),
  };
  const fill = (text: string) =>
    text.replace(
      /\$\{(\w+)(?::([-?])([^}]*))?\}/g,
      (_all, name: string, kind?: string, rest?: string) => values[name] ?? (kind === "-" ? (rest ?? "") : ""),
    );
  const settings = Object.fromEntries(
    Object.entries(compose.services[service]?.environment ?? {}).map(([name, value]) => [name, fill(String(value))]),
  );
  for (const [name, value] of Object.entries(settings)) {
    settings[name] = value.replace("/run/certificates", join(folder, "certificates", service));
  }
  for (const name of ["RPC_PORT", "PORT", "SANDBOX_PORT"]) if (settings[name]) settings[name] = String(await freePort());
  // Nothing of the compose network exists here; what counts is that the process starts with these
  // settings.
  return { ...settings, HOST: "127.0.0.1", SANDBOX_DATA_DIR: join(folder, "sandbox-data") };
}

test.each(services)(
  "the image's steps for %s give a process that starts with compose's settings and stops cleanly",
  async (service) => {
    const pruned = join(folder, `${service}-pruned`);
    const app = join(folder, service);
    const env = { ...process.env, PATH: `${bin}:${process.env["PATH"]}`, CI: "true", TURBO_TELEMETRY_DISABLED: "1" };
    await run(join(bin, "turbo"), ["prune", `@amana/${service}`, "--docker", "--out-dir", pruned], {
      cwd: root,
      env,
      timeout: 60_000,
    });
    await cp(join(pruned, "json"), app, { recursive: true });
    await run("npx", ["--yes", "pnpm@12", "install", "--prod", "--frozen-lockfile", "--prefer-offline"], {
      cwd: app,
      env,
      timeout: 150_000,
    });
    await cp(join(pruned, "full"), app, { recursive: true });

    const server = await spawnServer({
      command: process.execPath,
      args: [join("services", service, "src", "main.ts")],
      cwd: app,
      env: { PATH: env.PATH, NODE_ENV: "production", ...(await settingsOf(service)) },
    });
    try {
      // Identity stores its bootstrap key first and therefore waits for a database that is not
      // there.
      const sign = service === "identity" ? /could not start|ECONNREFUSED|ENOTFOUND|EAI_AGAIN/ : /"msg":"started"/;
      await eventually(() => expect(server.recentOutput()).toMatch(sign), 30_000);
      expect(server.recentOutput()).not.toContain("The settings are not usable");
    } finally {
      await server.stop();
    }
  },
  300_000,
);
