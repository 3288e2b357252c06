import { createPrivateKey, sign } from "node:crypto";
import { sleep } from "@amana/runtime";
import { request } from "undici";
import type { Report } from "../report.ts";
import type { KeysSystem } from "./keys-system.ts";

/** For each service, an RPC that accepts a business's token for this service. */
const reads = {
  identity: "/identity.v1.BusinessService/GetOwnBusiness",
  kyc: "/kyc.v1.KycApplicationService/ListKycApplications",
  clients: "/clients.v1.ClientService/ListClients",
  payments: "/payments.v1.PaymentService/ListPayments",
  webhooks: "/webhooks.v1.EventService/ListEvents",
} as const;
const standingPath = "/clients.v1.ClientService/GetClientStanding";
/** Lifetime of a token (ten seconds), plus a margin for clock differences. */
const lifetimeMs = 10_500;

/**
 * Sends the newest captured caller token, which is for payments, to the RPC port of every service.
 * Sends the token to payments again after the token has expired.
 */
export async function replayCapturedToken({ system, captured }: KeysSystem, report: Report): Promise<void> {
  const [token, capturedAtMs] = [...captured].at(-1) ?? [];
  if (token === undefined || capturedAtMs === undefined) return;
  for (const [service, path] of Object.entries(reads) as [keyof typeof reads, string][]) {
    const status = await call(system.rpcPorts[service], path, token);
    if (service === "payments")
      report.count(status === 200 ? "captured tokens accepted by their own service" : "captured tokens already expired");
    else report.check("a captured token is rejected by other services", status === 401, () => `${service} returned ${status}`);
  }
  await sleep(Math.max(0, capturedAtMs + lifetimeMs - performance.now()));
  const status = await call(system.rpcPorts.payments, reads.payments, token);
  report.check("a captured token is rejected after it has expired", status === 401, () => `payments returned ${status}`);
}

/** Simulates a thief, who signs tokens with kyc's private key and sends them to all RPC ports. */
export async function callWithStolenKey({ system }: KeysSystem, report: Report): Promise<void> {
  const [id = "", der = ""] = (system.envOf("kyc")["CALLER_PRIVATE_KEY"] ?? "").split(":");
  const key = createPrivateKey({ key: Buffer.from(der, "base64"), format: "der", type: "pkcs8" });
  const signToken = (claims: object) => {
    const now = Date.now() / 1_000;
    const parts = [
      { alg: "EdDSA", kid: id },
      { ...claims, iat: now, exp: now + 10 },
    ];
    const signed = parts.map((part) => Buffer.from(JSON.stringify(part)).toString("base64url")).join(".");
    return `${signed}.${sign(null, Buffer.from(signed), key).toString("base64url")}`;
  };
  const callers = [
    { role: "platform" },
    { role: "admin", keyId: "a", keyPrefix: "ak_" },
    { role: "business", businessId: system.business.id, keyId: "k", keyPrefix: "sk_" },
  ];
  for (const caller of callers) {
    for (const [aud, path] of [...Object.entries(reads), ["clients", standingPath]] as [keyof typeof reads, string][]) {
      const status = await call(system.rpcPorts[aud], path, signToken({ ...caller, aud }));
      const isAllowedCall = path === standingPath && caller.role === "platform";
      if (isAllowedCall)
        report.count(status === 401 ? "allowed calls with kyc's key that were rejected" : "allowed calls with kyc's key");
      else report.check("other calls with kyc's key are rejected", status === 401, () => `${caller.role} at ${path}: ${status}`);
    }
  }
}

async function call(port: number, path: string, token: string): Promise<number> {
  const response = await request(`http://127.0.0.1:${port}${path}`, {
    method: "POST",
    headers: { "content-type": "application/proto", "amana-caller": token },
    body: Buffer.alloc(0),
    headersTimeout: 10_000,
  });
  await response.body.dump();
  return response.statusCode;
}
