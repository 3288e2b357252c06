import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { request } from "undici";
import { DevEnvError } from "../dev-env-error.ts";
import { type DevFile, readDevFile } from "../dev-file.ts";
import { ownArguments } from "../own-arguments.ts";
import { createProgress } from "../progress.ts";
import { startSystem } from "../system.ts";
import { type Answer, apiCaller } from "./api.ts";
import { payInBrowser } from "./pay-in-browser.ts";
import { startReceiver } from "./receiver.ts";

const card = { pan: "6280581110007215", expiry: "01/2027", cvv2: "373", password: "123456" };
const webhookTimeoutMs = 30_000;

const { values: flags } = parseArgs({ args: ownArguments(), options: { browser: { type: "boolean", default: false } } });
const say = (text: string) => process.stdout.write(`${text}\n`);
let stepNumber = 0;
const step = (text: string) => say(`\n${++stepNumber}. ${text}`);
const saw = (text: string) => say(`   ✓ ${text}`);

function expect(truth: boolean, what: string, answer?: Answer): void {
  if (!truth)
    throw new Error(
      `Expected ${what}, but saw ${answer ? `${answer.status} ${JSON.stringify(answer.body)}` : "something else"}.`,
    );
  saw(what);
}

try {
  await main();
  say("\nEverything was seen: the demo passed.");
} catch (error) {
  say(`\n✗ ${(error as Error).message}`);
  process.exitCode = 1;
}

async function main(): Promise<void> {
  const root = join(import.meta.dirname, "..", "..", "..", "..");
  const dir = resolve(root, process.env["AMANA_DIR"] ?? ".amana");
  const running = await runningSystem(dir);
  if (running) {
    say("A system is running already: using it.");
    return await tell(running);
  }
  say("No system is running: starting one for the demo.");
  process.env["NODE_COMPILE_CACHE"] ??= join(dir, "cache");
  await using system = await startSystem({
    dir,
    events: "auto",
    brokers: process.env["KAFKA_BROKERS"],
    databaseUrl: process.env["DATABASE_URL"],
    progress: createProgress(),
  });
  await tell({
    gateway_url: system.gatewayUrl,
    sandbox_url: system.sandboxUrl,
    admin_key: system.adminKey,
    business: system.business,
    events: system.events.mode,
  });
}

/** The system on this folder, if it answers. */
async function runningSystem(dir: string): Promise<DevFile | undefined> {
  const file = await readDevFile(dir);
  if (!file) return undefined;
  const alive = await request(`${file.gateway_url}/healthz`, { headersTimeout: 2_000 }).then(
    (answer) => answer.body.dump().then(() => answer.statusCode === 200),
    () => false,
  );
  if (!alive)
    throw new DevEnvError(
      `${join(dir, "dev.json")} names a system that does not answer.`,
      "Start it again: npx --yes pnpm@12 start",
    );
  return file;
}

async function tell({ gateway_url, sandbox_url, admin_key, events }: DevFile): Promise<void> {
  say(`The system is at ${gateway_url} (events: ${events}).`);
  const operator = apiCaller(gateway_url, admin_key);

  step("An operator registers a business.");
  const business = await operator("POST", "/api/v1/businesses", { name: "Librairie du Port" });
  expect(
    business.status === 201 && business.body["status"] === "ACTIVE",
    "the business is ACTIVE and got its key, shown this once",
    business,
  );
  const call = apiCaller(gateway_url, String(business.body["api_key"]));

  step("The business registers a webhook endpoint on its own server.");
  await using receiver = await startReceiver();
  const endpoint = await call("POST", "/api/v1/webhook-endpoints", { url: receiver.url });
  expect(
    endpoint.status === 201 && endpoint.body["status"] === "ACTIVE",
    `${receiver.url} is ACTIVE and has a signing secret`,
    endpoint,
  );
  receiver.useSecret(String(endpoint.body["secret"]));

  step("It creates a payment of 5000.00 DZD.");
  await using shop = await startShop();
  const order = {
    amount: "5000.00",
    success_url: `${shop.url}/merci?panier=7`,
    fail_url: `${shop.url}/desole`,
    order_ref: "commande-1",
  };
  const key = { "idempotency-key": `demo-create-${Date.now()}` };
  const created = await call("POST", "/api/v1/payments", order, key);
  expect(
    created.status === 201 && created.body["status"] === "PENDING",
    "the payment is PENDING and has a form for the card holder",
    created,
  );
  const again = await call("POST", "/api/v1/payments", order, key);
  expect(
    again.status === 201 && again.body["id"] === created.body["id"] && again.headers["idempotent-replayed"] === "true",
    "sending it again with the same Idempotency-Key gives the same payment",
    again,
  );
  const paymentId = String(created.body["id"]);
  const formUrl = String(created.body["form_url"]);

  step(
    flags.browser
      ? "The card holder pays on the hosted page, in a browser."
      : "The card holder pays (by the sandbox's control call; --browser uses the page).",
  );
  say(`   ${formUrl}`);
  const landedAt = flags.browser ? await payInBrowser(formUrl, shop.url, card) : await payByControlCall(sandbox_url, formUrl);
  const landed = new URL(landedAt);
  expect(
    landed.pathname === "/merci" &&
      landed.searchParams.get("panier") === "7" &&
      landed.searchParams.get("payment_id") === paymentId &&
      landed.searchParams.get("status") === "PAID",
    "the browser is back at the shop's success page, with payment_id and status added",
  );
  const paid = await call("GET", `/api/v1/payments/${paymentId}`);
  expect(
    paid.status === 200 && paid.body["status"] === "PAID",
    `the payment is PAID, card ${paid.body["masked_pan"]} (${paid.body["card_brand"]})`,
    paid,
  );
  await expectWebhook("PAYMENT_COMPLETED", "PAID");

  step("The business refunds it.");
  const refunded = await call(
    "POST",
    `/api/v1/payments/${paymentId}/refund`,
    {},
    { "idempotency-key": `demo-refund-${Date.now()}` },
  );
  const refundedAtMs = performance.now();
  expect(
    refunded.status === 200 && refunded.body["status"] === "REFUNDED" && refunded.body["refunded_amount"] === "5000.00",
    "the payment is REFUNDED, 5000.00 given back",
    refunded,
  );
  const second = await call("POST", `/api/v1/payments/${paymentId}/refund`, {});
  expect(
    second.status === 409 && second.body["code"] === "payment_not_refundable",
    "a second refund is refused with 409 payment_not_refundable",
    second,
  );

  step("The signed PAYMENT_REFUNDED arrives.");
  const webhook = await expectWebhook("PAYMENT_REFUNDED", "REFUNDED");
  say(`   ${JSON.stringify(webhook.body)}`);
  say(`   ${Math.max(0, webhook.receivedAtMs - refundedAtMs).toFixed(0)} ms after the refund's answer`);
  const log = await call("GET", `/api/v1/events/${String(webhook.body["id"])}`);
  expect(log.status === 200 && log.body["type"] === "PAYMENT_REFUNDED", "the event is in the business's log", log);
  expect(receiver.refused.length === 0, "no webhook came with a signature that does not hold");

  async function expectWebhook(event: string, status: string) {
    const webhook = await receiver.next(event, webhookTimeoutMs);
    if (!webhook)
      throw new Error(
        `No ${event} arrived within ${webhookTimeoutMs / 1000} s. Refused so far: ${receiver.refused.join("; ") || "none"}.`,
      );
    expect(
      webhook.body["payment_id"] === paymentId && webhook.body["status"] === status,
      `${event} arrived; X-Signature and the Standard Webhooks signature both hold`,
    );
    return webhook;
  }
}

/** What the card holder does on the page, in one call, and then what the browser does: follow to the shop. */
async function payByControlCall(sandboxUrl: string, formUrl: string): Promise<string> {
  const orderId = new URL(formUrl).pathname.split("/").at(-1) ?? "";
  const paid = await request(`${sandboxUrl}/sandbox/payments/${orderId}/pay`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(card),
  });
  const { redirect_url } = (await paid.body.json()) as { redirect_url?: string };
  if (!redirect_url) throw new Error(`The sandbox did not take the card: HTTP ${paid.statusCode}.`);
  const back = await request(redirect_url, { method: "GET", headersTimeout: 40_000 });
  await back.body.dump();
  if (back.statusCode !== 303) throw new Error(`The return address answered ${back.statusCode}, not 303.`);
  return String(back.headers["location"]);
}

/** The shop whose pages the card holder comes back to. */
async function startShop() {
  const server = createServer((_request, response) => {
    response.writeHead(200, { "content-type": "text/plain" }).end("Merci.");
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise<void>((done) => server.close(() => done()));
    },
  };
}
