import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { readSecrets, type Secrets } from "@amana/dev-env/secrets";
import { serviceProgram } from "@amana/dev-env/service-process";
import { type ServiceName, type SettingsInput, serviceNames, servicesWithDatabase, settingsOf } from "@amana/dev-env/services";
import { afterAll, beforeAll, expect, test } from "vitest";

const root = join(import.meta.dirname, "..", "..", "..");
let dir: string;
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), "amana-production-"));
});
afterAll(() => rm(dir, { recursive: true, force: true }));

/**
 * Runs a service with development settings that `settings` overrides. Expects that the service does
 * not start. Returns the service's output.
 */
async function runService(
  name: ServiceName,
  settings: Record<string, string>,
  entry: "main" | "migrate" = "main",
): Promise<string> {
  const ports = Object.fromEntries(serviceNames.map((service, i) => [service, 4000 + i])) as Record<ServiceName, number>;
  const databaseUrls = Object.fromEntries(serviceNames.map((service) => [service, "postgres://unreachable@127.0.0.1:1/none"]));
  const wiring: SettingsInput = {
    secrets: await readSecrets(dir),
    databaseUrls,
    ports,
    brokers: undefined,
    sandboxDir: dir,
    kycProvider: "port",
    smtpPort: 2525,
  };
  const program = serviceProgram(name, entry);
  const run = promisify(execFile)(process.execPath, [program.file], {
    cwd: root,
    env: {
      PATH: process.env["PATH"],
      NODE_COMPILE_CACHE: process.env["NODE_COMPILE_CACHE"],
      ...program.env,
      ...settingsOf(name, wiring),
      ...settings,
    },
    timeout: 120_000,
  });
  return await run.then(
    () => "the service started",
    (error: { stdout: string; stderr: string }) => error.stdout + error.stderr,
  );
}

test.each<[ServiceName, string[]]>([
  ["gateway", ["ALLOW_INSECURE_URLS is for sandboxes", "SANDBOX_URL is for sandboxes"]],
  ["webhooks", ["ALLOW_INSECURE_WEBHOOKS is for sandboxes"]],
  ["payments", ["SATIM_URL must be an https address", "SATIM_FORM_URL_TEMPLATE must be an https address", "PUBLIC_URL must be"]],
  ["kyc", ["KYC_PROVIDER_URL must be an https address", "KYC_CALLBACK_URL must be an https address"]],
])("the service %s in production rejects settings that are only for sandboxes", async (name, problems) => {
  const output = await runService(name, { NODE_ENV: "production" });
  expect(output).toContain("The settings are not usable");
  for (const problem of problems) expect(output).toContain(problem);
});

test.each([
  ...serviceNames.map((name) => [name, "main"] as const),
  ...servicesWithDatabase.map((name) => [name, "migrate"] as const),
])("the program %s/%s rejects an unknown LOG_LEVEL and prints the permitted values", async (name, entry) => {
  const output = await runService(name, { LOG_LEVEL: "loud" }, entry);
  expect(output).toContain('LOG_LEVEL must be one of trace, debug, info, warn, error, fatal, silent, not "loud"');
  expect(output).not.toContain("    at ");
});

test.each<[ServiceName, string, (secrets: Secrets) => Record<string, string>, string]>([
  [
    "gateway",
    "a published private key",
    () => ({ CALLER_PRIVATE_KEY: "gateway-1:MC4CAQAwBQYDK2VwBCIEINTuctv5E1hK1bbY8fdp+K06/nwoy/HU++CXqI9EdVhC" }),
    "CALLER_PRIVATE_KEY is an example key whose private half is published",
  ],
  [
    "payments",
    "a published public key",
    () => ({ GATEWAY_PUBLIC_KEYS: "gateway-1:MCowBQYDK2VwAyEAGb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE=" }),
    "GATEWAY_PUBLIC_KEYS: entry 1 is an example key whose private half is published",
  ],
  [
    "clients",
    "the gateway's public key in KYC_PUBLIC_KEYS",
    ({ gatewayKey }) => ({ KYC_PUBLIC_KEYS: gatewayKey.publicKey }),
    "KYC_PUBLIC_KEYS and GATEWAY_PUBLIC_KEYS contain the same key",
  ],
  [
    "kyc",
    "the gateway's private key as kyc's CALLER_PRIVATE_KEY",
    ({ gatewayKey }) => ({ CALLER_PRIVATE_KEY: gatewayKey.privateKey }),
    "CALLER_PRIVATE_KEY and GATEWAY_PUBLIC_KEYS contain the same key",
  ],
  [
    "identity",
    "the gateway's private key as AUDIT_SIGNING_KEY",
    ({ gatewayKey }) => ({ AUDIT_SIGNING_KEY: gatewayKey.privateKey }),
    "AUDIT_SIGNING_KEY and GATEWAY_PUBLIC_KEYS contain the same key",
  ],
  [
    "webhooks",
    "the same EVENT_MAC_KEYS key for two topics",
    ({ eventSecret }) => ({ EVENT_MAC_KEYS: ["payments.v1", "kyc.v1"].map((topic) => `${topic}=k1:${eventSecret}`).join(",") }),
    "EVENT_MAC_KEYS has the same key for payments.v1 and kyc.v1",
  ],
])("the service %s does not start in production with %s", async (name, _setting, settings, problem) => {
  expect(await runService(name, { NODE_ENV: "production", ...settings(await readSecrets(dir)) })).toContain(problem);
});

test("the gateway rejects a TRUSTED_PROXIES value that is invalid or permits all addresses", async () => {
  const output = await runService("gateway", { TRUSTED_PROXIES: "10.0.0.0/8, 1, loopback, 10.0.0.0/33, ::/0" });
  for (const entry of ["1", "loopback", "10.0.0.0/33"])
    expect(output).toContain(`TRUSTED_PROXIES must list addresses and networks such as 10.0.0.0/8, not "${entry}"`);
  expect(output).toContain('must not list "::/0", which contains all addresses');
  expect(output).not.toContain('not "10.0.0.0/8"');
});

test("the migrate command of a service prints the next step when its database is unreachable", async () => {
  const output = await runService("payments", {}, "migrate");
  expect(output).toMatch(/The database cannot be used right now[\s\S]*Run this command again/);
  expect(output).not.toContain("    at ");
});
