import { ProblemError } from "@amana/client";
import type { System } from "@amana/dev-env/system";
import { aBusiness, anOrder, aPerson, createClient } from "@amana/e2e/test-system";
import { sleep } from "@amana/runtime";
import type { Report } from "../report.ts";

const pauseMs = 50;
/**
 * Time limit of an attempt. Even on a busy machine, all attempts of a request time out only if an
 * attack blocks the gateway.
 */
const timeoutMs = 10_000;
/** Maximum number of retries of a request by the client library. */
const retries = 3;

/** Attempts of a request that the gateway did not receive completely. */
const attemptsMax = 5;

/**
 * Sends a request. Repeats it after status 408, because a busy machine can stop this process for
 * longer than the gateway waits for the rest of a request. Returns the error of the last attempt.
 */
async function errorOf(send: () => Promise<unknown>): Promise<unknown> {
  for (let attempt = 1; ; attempt++)
    try {
      await send();
      return undefined;
    } catch (error) {
      const isIncomplete = error instanceof ProblemError && error.status === 408;
      if (!isIncomplete || attempt === attemptsMax) return error ?? "unknown";
    }
}

/**
 * Opens the page of a payment link. Waits as long as all attempts of the client library may take
 * together. Throws if the response's status is not 200.
 */
async function openPage(url: string): Promise<void> {
  const { status } = await fetch(url, { signal: AbortSignal.timeout((retries + 1) * timeoutMs) });
  if (status !== 200) throw new Error(`status ${status}`);
}

/**
 * Starts a business that sends one request after the other until it is disposed. Each request must
 * succeed. The client library may repeat a request after status 503 or 504, because a deadline
 * between services can expire on a busy machine even without an attack.
 */
export async function startCustomer(system: System, report: Report): Promise<AsyncDisposable> {
  const { key, receiver } = await aBusiness(system, "Customer");
  await receiver[Symbol.asyncDispose]();
  const amana = createClient(system, key, { retries, timeoutMs });
  let created = 0;
  const link = await amana.paymentLinks.create({ name: "Cours d'arabe", amount: "2500.00" });
  const requests: Readonly<Record<string, () => Promise<unknown>>> = {
    "get the business": () => amana.me.get(),
    "create a client": () => amana.clients.createPerson({ ...aPerson, email: `customer${created++}@example.dz` }),
    "list clients": () => amana.clients.list({ limit: 10 }).page(),
    "create a payment": () => amana.payments.create(anOrder),
    "open the page of a payment link": () => openPage(link.url),
    "list endpoints": () => amana.webhookEndpoints.list().page(),
    "list applications": () => amana.kycApplications.list({ limit: 10 }).page(),
  };
  const stop = new AbortController();
  const sendRequests = async () => {
    while (!stop.signal.aborted)
      for (const [name, send] of Object.entries(requests)) {
        if (stop.signal.aborted) return;
        const error = await errorOf(send);
        report.check("requests of a well-behaved business succeed", error === undefined, () => `${name}: ${error}`);
        await sleep(pauseMs);
      }
  };
  const sending = sendRequests();
  return {
    async [Symbol.asyncDispose]() {
      stop.abort();
      await sending;
    },
  };
}
