import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { eventually } from "@amana/dev-env/eventually";
import { type ServiceName, serviceNames } from "@amana/dev-env/services";
import { afterAll, beforeAll, expect, test } from "vitest";
import { aBusiness, aPaidPayment, startTestSystem, type TestSystem } from "../../src/test-system.ts";

const script = join(import.meta.dirname, "..", "..", "..", "deploy", "make-certificates.sh");
let folder: string;
let testSystem: TestSystem;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "amana-mtls-"));
  await promisify(execFile)(script, [folder, "1"], { env: { ...process.env, ALSO_NAMED: "localhost" } });
  testSystem = await startTestSystem("direct");
});
afterAll(async () => {
  await testSystem?.[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

test("a service with mTLS accepts calls of other services, and rejects connections without a client certificate", async () => {
  const { system } = testSystem;
  const withTls = (name: ServiceName): Record<string, string> => {
    const urlSettings = Object.entries(system.envOf(name)).filter(([setting]) => /_URLS$|^DIRECT_SUBSCRIBERS$/.test(setting));
    return {
      ...Object.fromEntries(
        urlSettings.map(([setting, value]) => [setting, value.replaceAll("http://127.0.0.1", "https://localhost")]),
      ),
      RPC_TLS_CERT_FILE: join(folder, name, "cert.pem"),
      RPC_TLS_KEY_FILE: join(folder, name, "key.pem"),
      RPC_TLS_CA_FILE: join(folder, name, "ca.pem"),
    };
  };
  const services = serviceNames.filter((name) => name !== "sandbox");
  await Promise.all(services.map((name) => system.services[name].stop()));
  await Promise.all(services.map((name) => system.services[name].start(withTls(name))));
  await system.waitUntilReady();

  const business = await aBusiness(system);
  const { id } = await aPaidPayment(system, business);
  expect((await business.call("GET", `/api/v1/payments/${id}`)).body["status"]).toBe("PAID");
  await eventually(() => expect(business.receiver.received.length).toBeGreaterThan(0));
  await business.receiver[Symbol.asyncDispose]();
  const withoutCertificate = fetch(`http://127.0.0.1:${system.rpcPorts.payments}/payments.v1.PaymentService/ListPayments`);
  await expect(withoutCertificate).rejects.toThrow();
});
