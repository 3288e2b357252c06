import { randomUUID } from "node:crypto";
import { apiCaller } from "@amana/dev-env/demo/api";
import { submit } from "@amana/dev-env/demo/at-the-sandbox";
import type { System } from "@amana/dev-env/system";
import { aPerson, sandbox, validCard } from "@amana/e2e/test-system";
import { sleep } from "@amana/runtime";
import { request } from "undici";
import type { Report } from "../report.ts";
import type { Balancer } from "./balancer.ts";

/** What was asked for and said to be done, to be looked for in the end. */
export interface Done {
  /** By payment: its order at the processor, and what was given back, in centimes. */
  readonly payments: Map<string, { readonly orderId: string; readonly refunded: number }>;
  /** Names, each given once. */
  readonly clients: string[];
  readonly applications: string[];
}

export interface Shop {
  readonly system: System;
  readonly balancer: Balancer;
  readonly apiKey: string;
  readonly report: Report;
  readonly signal: AbortSignal;
  readonly done: Done;
  /** Factor of the customers' pauses; see `pausesIn`. */
  readonly pauses: number;
}

const order = { amount: "5000.00", success_url: "https://shop.example/merci", fail_url: "https://shop.example/desole" };
/** In centimes; each payment is refunded once. */
const refundAmount = 250_50;

/** Asks one of the gateways. Another answer than `wanted` is a violation, and has no body here. */
export type Call = (
  what: string,
  method: "GET" | "POST" | "DELETE",
  path: string,
  wanted: number,
  body?: object,
  headers?: Record<string, string>,
) => Promise<Record<string, unknown> | undefined>;

/** Attempts below this duration pause longer, because starting replicas need the processor time. */
const secondsForShortPauses = 60;

/** Returns the factor by which the customers of an attempt pause longer. */
export const pausesIn = (seconds: number): number => (seconds < secondsForShortPauses ? 5 : 1);

/** Customers who do one thing after the other until the signal. */
export async function beCustomers(shop: Shop): Promise<void> {
  const call = callOf(shop);
  const often = (pauseMs: number, work: (number: number) => Promise<void>) => overAndOver(shop, pauseMs, work);
  await Promise.all([
    often(40, () => read(call)),
    often(40, () => read(call)),
    often(150, (i) => registerClient(shop, call, i)),
    often(150, () => payAndRefund(shop, call)),
    often(150, () => payAndRefund(shop, call)),
    often(500, () => verifyApplicant(shop, call)),
  ]);
}

/** One customer, until the signal. */
export async function overAndOver(
  { signal, report, pauses }: Pick<Shop, "signal" | "report" | "pauses">,
  pauseMs: number,
  work: (number: number) => Promise<void>,
): Promise<void> {
  for (let i = 0; !signal.aborted; i++) {
    await work(i).catch((error: Error) => report.violation(`a customer failed: ${error.stack}`));
    await sleep(pauses * pauseMs, signal);
  }
}

export function callOf({ balancer, apiKey, report }: Shop): Call {
  return async (what, method, path, wanted, body, headers) => {
    const url = balancer.next();
    const sentMs = performance.now();
    const tookMs = () => Math.round(performance.now() - sentMs);
    try {
      const answer = await apiCaller(url, apiKey)(method, path, body, headers);
      report.check(
        `${what} is answered`,
        answer.status === wanted,
        () => `${answer.status} after ${tookMs()} ms: ${answer.text}`,
      );
      return answer.status === wanted ? answer.body : undefined;
    } catch (error) {
      report.violation(`${what}: no answer by ${url} after ${tookMs()} ms: ${error}`);
      return undefined;
    }
  };
}

async function read(call: Call): Promise<void> {
  await call("a read of the business", "GET", "/api/v1/me", 200);
  await call("a list of payments", "GET", "/api/v1/payments?limit=5", 200);
  await call("a list of clients", "GET", "/api/v1/clients?limit=5", 200);
  await call("a list of events", "GET", "/api/v1/events?limit=5", 200);
}

async function registerClient({ done }: Shop, call: Call, number: number): Promise<void> {
  const email = `amina-${randomUUID()}@example.com`;
  const headers: Record<string, string> = number % 2 === 0 ? { "idempotency-key": email } : {};
  const client = await call("a client's registration", "POST", "/api/v1/clients/person", 201, { ...aPerson, email }, headers);
  if (client) done.clients.push(email);
}

async function payAndRefund({ system, balancer, report, done }: Shop, call: Call): Promise<void> {
  const created = await call("a payment's creation", "POST", "/api/v1/payments", 201, order);
  if (!created) return;
  const id = String(created["id"]);
  const orderId = String(created["processor_order_id"]);
  const paid = (await sandbox(system, "POST", `/sandbox/payments/${orderId}/pay`, validCard)) as { redirect_url: string };
  const { pathname, search } = new URL(paid.redirect_url);
  const back = await request(`${balancer.next()}${pathname}${search}`, { headersTimeout: 20_000 });
  await back.body.dump();
  const where = String(back.headers["location"]);
  report.check("a card holder's return is answered", where.includes("status=PAID"), () => `${back.statusCode} ${where}`);
  const refund = { amount: (refundAmount / 100).toFixed(2) };
  const refunded = await call("a refund", "POST", `/api/v1/payments/${id}/refund`, 200, refund);
  done.payments.set(id, { orderId, refunded: refunded ? refundAmount : 0 });
  await call("a read of a payment", "GET", `/api/v1/payments/${id}`, 200);
}

async function verifyApplicant({ system, done }: Shop, call: Call): Promise<void> {
  const external_id = `applicant-${process.pid}-${done.applications.length}`;
  const application = await call("an application", "POST", "/api/v1/kyc/applications", 201, { external_id });
  if (!application) return;
  await submit(system.sandboxUrl, String(application["link_url"]), { outcome: "approved" });
  done.applications.push(String(application["id"]));
}
