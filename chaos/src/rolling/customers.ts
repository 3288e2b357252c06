import { randomUUID } from "node:crypto";
import { apiCaller } from "@amana/dev-env/demo/api";
import { submitApplication } from "@amana/dev-env/demo/sandbox-control";
import type { System } from "@amana/dev-env/system";
import { aPerson, callSandbox, validCard } from "@amana/e2e/test-system";
import { sleep } from "@amana/runtime";
import { request } from "undici";
import type { Report } from "../report.ts";
import type { Balancer } from "./balancer.ts";

/** Resources of successful requests. Their effects are checked at the end. */
export interface CompletedWork {
  /** For each payment id, the payment's order at the processor and its refund in centimes. */
  readonly payments: Map<string, { readonly orderId: string; readonly refunded: number }>;
  /** E-mail addresses, each used for one client. */
  readonly clients: string[];
  readonly applications: string[];
}

export interface Shop {
  readonly system: System;
  readonly balancer: Balancer;
  readonly apiKey: string;
  readonly report: Report;
  readonly signal: AbortSignal;
  readonly completed: CompletedWork;
  /** Factor by which the customers' pauses are multiplied (see `pauseFactorOf`). */
  readonly pauseFactor: number;
}

const order = { amount: "5000.00", success_url: "https://shop.example/merci", fail_url: "https://shop.example/desole" };
/** Amount in centimes of the refund that each payment gets. */
const refundAmount = 250_50;

/**
 * Sends a request to one of the gateways. Records a violation and returns undefined if the status
 * is not `expected`.
 */
export type CallGateway = (
  name: string,
  method: "GET" | "POST" | "DELETE",
  path: string,
  expected: number,
  body?: object,
  headers?: Record<string, string>,
) => Promise<Record<string, unknown> | undefined>;

/** In shorter runs, customers pause longer, because the start of replicas uses processor time. */
const secondsForShortPauses = 60;

/** Returns the factor by which the customers' pauses are multiplied in a run of `seconds`. */
export const pauseFactorOf = (seconds: number): number => (seconds < secondsForShortPauses ? 12 : 1);

/** Runs several customers in parallel until `signal` is aborted. */
export async function runCustomers(shop: Shop): Promise<void> {
  const call = createCallGateway(shop);
  const repeat = (pauseMs: number, work: (number: number) => Promise<void>) => repeatUntilOver(shop, pauseMs, work);
  await Promise.all([
    repeat(40, () => read(call)),
    repeat(40, () => read(call)),
    repeat(150, (i) => registerClient(shop, call, i)),
    repeat(150, () => payAndRefund(shop, call)),
    repeat(150, () => payAndRefund(shop, call)),
    repeat(500, () => verifyApplicant(shop, call)),
  ]);
}

/** Repeats the work of one customer until `signal` is aborted. */
export async function repeatUntilOver(
  { signal, report, pauseFactor }: Pick<Shop, "signal" | "report" | "pauseFactor">,
  pauseMs: number,
  work: (number: number) => Promise<void>,
): Promise<void> {
  for (let i = 0; !signal.aborted; i++) {
    await work(i).catch((error: Error) => report.violation(`a customer stopped with an error: ${error.stack}`));
    await sleep(pauseFactor * pauseMs, signal);
  }
}

export function createCallGateway({ balancer, apiKey, report }: Shop): CallGateway {
  return async (name, method, path, expected, body, headers) => {
    const url = balancer.next();
    const sentMs = performance.now();
    const durationMs = () => Math.round(performance.now() - sentMs);
    try {
      const response = await apiCaller(url, apiKey)(method, path, body, headers);
      report.check(
        `${name} succeeds`,
        response.status === expected,
        () => `${response.status} after ${durationMs()} ms: ${response.text}`,
      );
      return response.status === expected ? response.body : undefined;
    } catch (error) {
      report.violation(`${name}: no response from ${url} after ${durationMs()} ms: ${error}`);
      return undefined;
    }
  };
}

async function read(call: CallGateway): Promise<void> {
  await call("a read of the business", "GET", "/api/v1/me", 200);
  await call("a list of payments", "GET", "/api/v1/payments?limit=5", 200);
  await call("a list of clients", "GET", "/api/v1/clients?limit=5", 200);
  await call("a list of events", "GET", "/api/v1/events?limit=5", 200);
}

async function registerClient({ completed }: Shop, call: CallGateway, number: number): Promise<void> {
  const email = `amina-${randomUUID()}@example.com`;
  const headers: Record<string, string> = number % 2 === 0 ? { "idempotency-key": email } : {};
  const client = await call("a client's registration", "POST", "/api/v1/clients/person", 201, { ...aPerson, email }, headers);
  if (client) completed.clients.push(email);
}

async function payAndRefund({ system, balancer, report, completed }: Shop, call: CallGateway): Promise<void> {
  const created = await call("a payment's creation", "POST", "/api/v1/payments", 201, order);
  if (!created) return;
  const id = String(created["id"]);
  const orderId = String(created["processor_order_id"]);
  const payment = (await callSandbox(system, "POST", `/sandbox/payments/${orderId}/pay`, validCard)) as { redirect_url: string };
  const { pathname, search } = new URL(payment.redirect_url);
  const returned = await request(`${balancer.next()}${pathname}${search}`, { headersTimeout: 20_000 });
  await returned.body.dump();
  const location = String(returned.headers["location"]);
  report.check("a card holder's return succeeds", location.includes("status=PAID"), () => `${returned.statusCode} ${location}`);
  const refund = { amount: (refundAmount / 100).toFixed(2) };
  const refunded = await call("a refund", "POST", `/api/v1/payments/${id}/refund`, 200, refund);
  completed.payments.set(id, { orderId, refunded: refunded ? refundAmount : 0 });
  await call("a read of a payment", "GET", `/api/v1/payments/${id}`, 200);
}

async function verifyApplicant({ system, completed }: Shop, call: CallGateway): Promise<void> {
  const external_id = `applicant-${process.pid}-${completed.applications.length}`;
  const application = await call("an application", "POST", "/api/v1/kyc/applications", 201, { external_id });
  if (!application) return;
  await submitApplication(system.sandboxUrl, String(application["link_url"]), { outcome: "approved" });
  completed.applications.push(String(application["id"]));
}
