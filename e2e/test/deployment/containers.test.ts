import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { apiCaller } from "@amana/dev-env/demo/api";
import { callSandboxControl } from "@amana/dev-env/demo/sandbox-control";
import { eventually } from "@amana/dev-env/eventually";
import { freePort } from "@amana/dev-env/free-port";
import { request } from "undici";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createComposeValues, createDatabasePasswords } from "../../src/compose-file.ts";

/**
 * Runs docker-compose.yml on the container engine whose address is in TEST_ENGINE, such as
 * unix:///var/run/docker.sock. Skipped without TEST_ENGINE. Builds seven images. TEST_COMPOSE can
 * contain another command than `docker compose`. TEST_ENGINE_RESTART is a command that restarts the
 * engine.
 */
const engine = process.env["TEST_ENGINE"];
const compose = (process.env["TEST_COMPOSE"] ?? "docker compose").split(" ");
const restart = process.env["TEST_ENGINE_RESTART"];
if (!engine) process.stderr.write("\nSKIPPED the tests of the system in containers. Set TEST_ENGINE to run these tests.\n\n");
else if (!restart) process.stderr.write("\nSKIPPED the test of an engine restart. Set TEST_ENGINE_RESTART to run this test.\n\n");

const root = join(import.meta.dirname, "..", "..", "..");
const card = { pan: "6280581110007215", expiry: "01/2027", cvv2: "373", password: "123456" };
const services = ["gateway", "identity", "kyc", "clients", "payments", "webhooks", "sandbox"];
const longMs = 900_000;
const run = promisify(execFile);

describe.skipIf(!engine)("the system in containers", () => {
  let dir: string;
  let gatewayUrl: string;
  let sandboxUrl: string;
  let adminKey: string;
  const project = `amana-test-${randomBytes(4).toString("hex")}`;
  const env = { ...process.env, DOCKER_HOST: engine, DOCKER_BUILDKIT: "1" };
  const command = async (file: string, args: readonly string[]) =>
    (await run(file, args, { cwd: root, env, timeout: longMs, maxBuffer: 64 << 20 })).stdout;
  const docker = (...args: string[]) => command("docker", args);
  const runCompose = (...args: string[]) =>
    command(compose[0] as string, [...compose.slice(1), "-p", project, "--env-file", join(dir, "env"), ...args]);
  const findContainer = async (service: string) => (await runCompose("ps", "-q", service)).trim();

  beforeAll(async () => {
    dir = await mkdtemp(join(tmpdir(), "amana-containers-"));
    await chmod(dir, 0o711);
    const values = await createComposeValues(dir);
    const [gatewayPort, sandboxPort] = [await freePort(), await freePort()];
    [gatewayUrl, sandboxUrl] = [`http://127.0.0.1:${gatewayPort}`, `http://127.0.0.1:${sandboxPort}`];
    adminKey = values["BOOTSTRAP_ADMIN_KEY"] as string;
    const settings = {
      ...values,
      // The passwords contain characters that are special in URLs, SQL and shells.
      ...createDatabasePasswords((name) => `it's/a?p@ss#w:rd%2F${name}`),
      GATEWAY_PORT: gatewayPort,
      SANDBOX_PORT: sandboxPort,
      // The demo runs in the network of the containers, so these addresses are container names.
      PUBLIC_URL: "http://gateway:8080",
      SANDBOX_URL: "http://sandbox:8090",
    };
    await writeFile(
      join(dir, "env"),
      Object.entries(settings)
        .map(([name, value]) => `${name}="${value}"\n`)
        .join(""),
    );
    await runCompose("up", "--build", "--detach", "--wait");
  }, longMs);
  afterAll(async () => {
    await runCompose("down", "--volumes", "--remove-orphans", "--rmi", "local");
    await rm(dir, { recursive: true, force: true });
  }, longMs);

  /** Creates a payment of the business, pays it, and returns its id. */
  async function createPaidPayment(key: string): Promise<string> {
    const business = apiCaller(gatewayUrl, key);
    const order = { amount: "5000.00", success_url: "https://shop.example/a", fail_url: "https://shop.example/b" };
    const { body } = await business("POST", "/api/v1/payments", order);
    const orderId = new URL(String(body["form_url"])).pathname.split("/").at(-1);
    const payment = await callSandboxControl<{ redirect_url: string }>(sandboxUrl, "POST", `payments/${orderId}/pay`, card);
    const returned = await request(`${gatewayUrl}${new URL(payment.redirect_url).pathname}`);
    await returned.body.dump();
    expect(returned.statusCode).toBe(303);
    return String(body["id"]);
  }
  async function registerBusiness(): Promise<string> {
    const { body } = await apiCaller(gatewayUrl, adminKey)("POST", "/api/v1/businesses", { name: "Librairie du Port" });
    return String(body["api_key"]);
  }
  const expectPublished = () =>
    eventually(async () => {
      const query = ["psql", "-U", "postgres", "-d", "amana_payments", "-Atc", "select count(*) from outbox_waiting"];
      const count = await runCompose("exec", "-T", "postgres", ...query);
      expect(count.trim()).toBe("0");
    }, 30_000);
  const expectEvent = (key: string, paymentId: string, type: string) =>
    eventually(async () => {
      const { body } = await apiCaller(gatewayUrl, key)("GET", "/api/v1/events?limit=100");
      expect(JSON.stringify(body)).toContain(paymentId);
      expect(JSON.stringify(body)).toContain(type);
    }, 60_000);
  const expectHealthy = () =>
    eventually(async () => expect((await request(`${gatewayUrl}/readyz`)).statusCode).toBe(200), 120_000);

  test(
    "the demo program passes against the system in containers",
    async () => {
      const dev = {
        gateway_url: "http://gateway:8080",
        sandbox_url: "http://sandbox:8090",
        admin_key: adminKey,
        events: "kafka",
      };
      await writeFile(join(dir, "dev.json"), JSON.stringify(dev));
      const webhooks = await findContainer("webhooks");
      // The demo's webhook receiver listens on the loopback address. Therefore the demo shares the
      // network namespace of the container that delivers webhooks.
      const options = ["--rm", "--network", `container:${webhooks}`, "-v", `${root}:/repo:ro`, "-v", `${dir}:/dev-file:ro`];
      const demo = ["node", "/repo/packages/dev-env/src/demo/demo.ts"];
      const image = "node:26.10.0-slim";
      expect(await docker("run", ...options, "-e", "AMANA_DIR=/dev-file", image, ...demo)).toContain("The demo passed");
    },
    longMs,
  );

  test.each(services)("the container of %s has a small image, a read-only file system and no capabilities", async (service) => {
    const container = await findContainer(service);
    const runInside = (script: string) => docker("exec", container, "sh", "-c", script);
    expect((await runInside("id -u; touch /app/x /x 2>&1 | grep -c 'Read-only file system'")).split("\n")).toEqual([
      "1000",
      "2",
      "",
    ]);
    expect(await runInside("grep -E '^(CapEff|NoNewPrivs)' /proc/1/status")).toMatch(/CapEff:\s0+\nNoNewPrivs:\s1\n/);
    expect(await runInside("find /app -user 1000")).toBe("");
    expect(JSON.parse(await runInside("cat /app/sbom.cdx.json"))).toMatchObject({ bomFormat: "CycloneDX" });
    const layers = await docker("history", "--format", "{{.Size}} {{.CreatedBy}}", `${project}-${service}`);
    const [, size] = /^([\d.]+)MB COPY \/app/m.exec(layers) ?? [];
    expect(Number(size)).toBeLessThan(25);
  });

  test(
    "the system in containers keeps unconsumed events and the sandbox's orders after `docker compose down` and `up`",
    async () => {
      const key = await registerBusiness();
      await runCompose("stop", "webhooks");
      const paymentId = await createPaidPayment(key);
      await expectPublished();
      await runCompose("down");
      await runCompose("up", "--detach", "--wait");
      await expectEvent(key, paymentId, "PAYMENT_COMPLETED");
      const refund = await apiCaller(gatewayUrl, key)("POST", `/api/v1/payments/${paymentId}/refund`, {});
      expect(refund.body).toMatchObject({ status: "REFUNDED" });
      await expectEvent(key, paymentId, "PAYMENT_REFUNDED");
    },
    longMs,
  );

  test.skipIf(!restart)(
    "the system in containers starts again after a restart of the container engine, and loses no event",
    async () => {
      const key = await registerBusiness();
      const paymentId = await createPaidPayment(key);
      await run("sh", ["-c", restart as string], { timeout: 120_000 });
      await expectHealthy();
      await expectEvent(key, paymentId, "PAYMENT_COMPLETED");
      const runningServices = (await runCompose("ps", "--services", "--status", "running")).trim().split("\n");
      expect(runningServices.sort()).toEqual(["kafka", "postgres", ...services].sort());
    },
    longMs,
  );
});
