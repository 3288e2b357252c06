import { createHmac } from "node:crypto";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { Webhook as StandardWebhook } from "standardwebhooks";
import { afterEach, describe, expect, test, vi } from "vitest";
import { cases } from "../test/cases.ts";
import { readWebhook, verifyWebhook, verifyXSignature, type Webhook, WebhookRefused } from "./index.ts";

/** The published delivery. */
const secret = "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";
const other = `whsec_${Buffer.alloc(32, 9).toString("base64")}`;
const body =
  '{"id":"01980000-0000-7000-8000-000000000001","event":"PAYMENT_REFUNDED","occurred_at":"2026-11-20T10:00:00.000Z","business_id":"01980000-0000-7000-8000-000000000002","payment_id":"01980000-0000-7000-8000-000000000003","order_ref":"commande-é-1","processor_order_id":"V721uPPfNNofVQAAABL3","status":"REFUNDED","amount":"5000.00","currency":"DZD","refunded_amount":"5000.00"}';
const headers = {
  "x-signature": "sha256=720f0a0b8ff5754c23162208d94052b59cbf0f97d6b9f40b5a85cab89dec07d0",
  "webhook-id": "01980000-0000-7000-8000-000000000001",
  "webhook-timestamp": "1795170000",
  "webhook-signature": "v1,VzoUk/EJcfbgACNjS2ZwqiGmroRDIBdPWt9SUN1kP2M=",
};
const sentAtMs = 1_795_170_000_000;

const at = (ms: number) => vi.useFakeTimers({ now: ms, toFake: ["Date"] });
afterEach(() => void vi.useRealTimers());

const signedNow = (text: string, by: string, id = "01980000-0000-7000-8000-000000000001") => {
  const now = new Date();
  const timestamp = String(Math.floor(now.getTime() / 1000));
  return { "webhook-id": id, "webhook-timestamp": timestamp, "webhook-signature": new StandardWebhook(by).sign(id, now, text) };
};

describe("the published delivery", () => {
  test("is genuine by both schemes, as text and as bytes", () => {
    at(sentAtMs + 10_000);
    for (const raw of [body, Buffer.from(body)]) {
      verifyXSignature(headers, raw, { secrets: secret });
      expect(verifyWebhook(headers, raw, { secrets: secret })).toEqual({
        id: headers["webhook-id"],
        event: "PAYMENT_REFUNDED",
        sentAt: new Date(sentAtMs),
        body: JSON.parse(body),
      });
    }
  });

  test("is refused with another secret, and genuine when it is one of two", () => {
    at(sentAtMs);
    expect(() => verifyWebhook(headers, body, { secrets: other })).toThrow(WebhookRefused);
    expect(() => verifyXSignature(headers, body, { secrets: other })).toThrow(WebhookRefused);
    for (const secrets of [
      [secret, other],
      [other, secret],
    ]) {
      expect(verifyWebhook(headers, body, { secrets }).event).toBe("PAYMENT_REFUNDED");
      verifyXSignature(headers, body, { secrets });
    }
  });

  test("is refused once a byte of it, or a header, is another", () => {
    at(sentAtMs);
    const changed = body.replace("5000.00", "5000.01");
    expect(() => verifyWebhook(headers, changed, { secrets: secret })).toThrow(WebhookRefused);
    expect(() => verifyXSignature(headers, changed, { secrets: secret })).toThrow(WebhookRefused);
    // The same content, written anew.
    expect(() => verifyWebhook(headers, JSON.stringify(JSON.parse(body), null, 1), { secrets: secret })).toThrow(WebhookRefused);
    for (const name of ["webhook-id", "webhook-timestamp", "webhook-signature"] as const) {
      expect(() => verifyWebhook({ ...headers, [name]: `${headers[name]}1` }, body, { secrets: secret })).toThrow(WebhookRefused);
      const { [name]: _, ...fewer } = headers;
      expect(() => verifyWebhook(fewer, body, { secrets: secret })).toThrow(WebhookRefused);
    }
    for (const given of ["", "sha256=", headers["x-signature"].toUpperCase(), headers["x-signature"].slice(0, -1)]) {
      expect(() => verifyXSignature({ "x-signature": given }, body, { secrets: secret })).toThrow(WebhookRefused);
    }
  });

  test("is believed for five minutes before and after, or for as long as is said", () => {
    const tried = (ms: number, toleranceSeconds?: number) => {
      at(sentAtMs + ms);
      return () => verifyWebhook(headers, body, { secrets: secret, ...(toleranceSeconds && { toleranceSeconds }) });
    };
    for (const ms of [-300_000, 300_000]) expect(tried(ms)().sentAt.getTime()).toBe(sentAtMs);
    for (const ms of [-301_000, 301_000]) expect(tried(ms)).toThrow(/too long ago/);
    expect(tried(9_000, 10)().id).toBe(headers["webhook-id"]);
    expect(tried(11_000, 10)).toThrow(WebhookRefused);
  });
});

test.each(cases)("$name: $expected", ({ headers, body, secrets, now, expected }) => {
  at(now * 1000);
  const verify = () => verifyWebhook(headers, body, { secrets });
  if (expected === "genuine") expect(verify().event).toBe("PAYMENT_REFUNDED");
  else expect(verify).toThrow(expected === "misuse" ? TypeError : WebhookRefused);
});

test("while secrets are changed a delivery that is signed with both is genuine for whoever knows one of them", () => {
  const [by, alsoBy] = [signedNow(body, secret), signedNow(body, other)];
  const both = { ...by, "webhook-signature": `${by["webhook-signature"]} ${alsoBy["webhook-signature"]}` };
  for (const secrets of [secret, other]) expect(verifyWebhook(both, body, { secrets }).event).toBe("PAYMENT_REFUNDED");
  const signatures = `v0,x ${both["webhook-signature"]} v1a,y`;
  expect(verifyWebhook({ ...both, "webhook-signature": signatures }, body, { secrets: other }).event).toBe("PAYMENT_REFUNDED");
});

test("what is no secret verifies nothing", () => {
  const empty = createHmac("sha256", "").update(body).digest("hex");
  for (const secrets of ["", [], [""], "whsec_", [secret, ""], "undefined"]) {
    expect(() => verifyWebhook(headers, body, { secrets })).toThrow(TypeError);
    expect(() => verifyXSignature({ "x-signature": `sha256=${empty}` }, body, { secrets })).toThrow(TypeError);
  }
});

describe("requests", () => {
  test("of Fetch are read and verified", async () => {
    const request = (text: string) =>
      new Request("https://shop.example", { method: "POST", headers: signedNow(body, secret), body: text });
    expect((await readWebhook(request(body), { secrets: secret })).body["order_ref"]).toBe("commande-é-1");
    await expect(readWebhook(request(`${body} `), { secrets: secret })).rejects.toThrow(WebhookRefused);
  });

  test("of node:http are read and verified, in whatever pieces they come", async () => {
    expect(await received(body, signedNow(body, secret))).toMatchObject({ event: "PAYMENT_REFUNDED" });
    expect(await received(body, signedNow(body, other))).toMatchObject({ status: 400 });
  });

  test("larger than a mebibyte are refused before they are verified", async () => {
    const large = JSON.stringify({ event: "PAYMENT_REFUNDED", padding: "x".repeat(1024 * 1024) });
    expect(await received(large, signedNow(large, secret))).toMatchObject({ status: 413 });
  });
});

/** What becomes of a request that a server of node:http gets. */
async function received(text: string, sent: Record<string, string>): Promise<Webhook | WebhookRefused> {
  const result = Promise.withResolvers<Webhook | WebhookRefused>();
  const server = createServer((request: IncomingMessage, response) => {
    readWebhook(request, { secrets: secret })
      .then(result.resolve, result.resolve)
      .finally(() => response.end());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  await fetch(url, { method: "POST", headers: sent, body: text }).catch(() => {});
  server.closeAllConnections();
  server.close();
  return await result.promise;
}
