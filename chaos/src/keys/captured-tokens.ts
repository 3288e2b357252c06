import { createPrivateKey, sign } from "node:crypto";
import { sleep } from "@amana/runtime";
import { request } from "undici";
import type { Report } from "../report.ts";
import type { Stage } from "./stage.ts";

/** A read at each port that a good token would open. */
const reads = {
  identity: "/identity.v1.BusinessService/GetOwnBusiness",
  kyc: "/kyc.v1.KycApplicationService/ListKycApplications",
  clients: "/clients.v1.ClientService/ListClients",
  payments: "/payments.v1.PaymentService/ListPayments",
  webhooks: "/webhooks.v1.EventService/ListEvents",
} as const;
const standing = "/clients.v1.ClientService/GetClientStanding";
/** A token's ten seconds, and some for clocks. */
const lifetimeMs = 10_500;

/**
 * Whoever reads the wire to payments plays the newest token at every port, and again at payments
 * when it has ended.
 */
export async function replayCaptured({ system, captured }: Stage, report: Report): Promise<void> {
  const [token, seenAtMs] = [...captured].at(-1) ?? [];
  if (token === undefined || seenAtMs === undefined) return;
  for (const [service, path] of Object.entries(reads) as [keyof typeof reads, string][]) {
    const status = await call(system.rpcPorts[service], path, token);
    if (service === "payments") report.count(status === 200 ? "captured tokens played where they belong" : "captured too late");
    else report.check("a captured token opens no other port", status === 401, () => `${service} answered ${status}`);
  }
  await sleep(Math.max(0, seenAtMs + lifetimeMs - performance.now()));
  const status = await call(system.rpcPorts.payments, reads.payments, token);
  report.check("a captured token opens nothing once it has ended", status === 401, () => `payments answered ${status}`);
}

/** Whoever has stolen kyc's key mints callers with it. */
export async function abuseStolenKey({ system }: Stage, report: Report): Promise<void> {
  const [id = "", der = ""] = (system.envOf("kyc")["CALLER_PRIVATE_KEY"] ?? "").split(":");
  const key = createPrivateKey({ key: Buffer.from(der, "base64"), format: "der", type: "pkcs8" });
  const mint = (claims: object) => {
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
    for (const [aud, path] of [...Object.entries(reads), ["clients", standing]] as [keyof typeof reads, string][]) {
      const status = await call(system.rpcPorts[aud], path, mint({ ...caller, aud }));
      const isItsQuestion = path === standing && caller.role === "platform";
      if (isItsQuestion) report.count(status === 401 ? "kyc's key is not believed at all" : "kyc's key used for its question");
      else report.check("kyc's key vouches for nothing else", status === 401, () => `${caller.role} at ${path}: ${status}`);
    }
  }
}

async function call(port: number, path: string, token: string): Promise<number> {
  const answer = await request(`http://127.0.0.1:${port}${path}`, {
    method: "POST",
    headers: { "content-type": "application/proto", "amana-caller": token },
    body: Buffer.alloc(0),
    headersTimeout: 10_000,
  });
  await answer.body.dump();
  return answer.statusCode;
}
