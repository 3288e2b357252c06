import { randomUUID } from "node:crypto";
import { aPerson, someDetails } from "@amana/dev-env/demo/a-person";
import { apiCaller } from "@amana/dev-env/demo/api";
import type { Endpoint } from "../events/endpoints.ts";
import { type Receiver, receiveEvents } from "../events/receive-events.ts";
import { aVictim, type Victim } from "../keys/take-away.ts";
import { createRandom } from "../random.ts";
import type { Scene } from "../refunds/ask-for-refunds.ts";
import type { Report } from "../report.ts";
import type { Schedule, Work } from "./schedule.ts";
import type { Stage } from "./stage.ts";

/** A business that is there for one schedule, made before anything goes wrong. */
export interface Company extends AsyncDisposable {
  readonly scene: Scene;
  readonly gatewayUrls: readonly string[];
  readonly endpoint: Endpoint;
  /** A client who is about to be verified. */
  readonly clientId: string | undefined;
  /** For each key that is taken away, another business. */
  readonly victims: ReadonlyMap<Work, Victim>;
  /** The last rows of the outboxes before this business. */
  readonly outboxIds: Readonly<Record<"payments" | "kyc", string>>;
}

/** What the endpoint asks for: everything that follows from the work. */
export const toldTypes = [
  "PAYMENT_COMPLETED",
  "PAYMENT_REFUNDED",
  "PAYMENT_CANCELED",
  "PAYMENT_FAILED",
  "PAYMENT_REFUSED",
  "PAYMENT_EXPIRED",
  "KYC_COMPLETED",
  "KYC_REJECTED",
  "KYC_NEEDS_REVIEW",
  "KYC_REVIEW_RESOLVED",
  "KYC_CANCELED",
];

export async function openCompany(
  stage: Stage,
  { work }: Schedule,
  { report, signal }: { report: Report; signal: AbortSignal },
): Promise<Company> {
  const { system, gatewayUrl, databases, proxy } = stage;
  await using stack = new AsyncDisposableStack();
  const made = await apiCaller(gatewayUrl(), system.adminKey)("POST", "/api/v1/businesses", { name: "Épicerie" });
  const [businessId, apiKey] = [String(made.body["id"]), String(made.body["api_key"])];
  const post = async (path: string, body: object) => {
    const answer = await apiCaller(gatewayUrl(), apiKey)("POST", path, body);
    if (answer.status !== 201) throw new Error(`${path} answered ${answer.status} before any fault: ${answer.text}`);
    return String(answer.body["id"]);
  };
  const receivers = stack.use(await receiveEvents(createRandom(work.length), 1));
  const receiver = receivers.receivers[0] as Receiver;
  const endpointId = await post("/api/v1/webhook-endpoints", { url: receiver.url, events: toldTypes });
  let clientId: string | undefined;
  if (work.some((one) => one.kind === "verification" && one.ofClient)) {
    clientId = await post("/api/v1/clients/person", { ...aPerson, email: `${randomUUID()}@example.dz` });
    await post(`/api/v1/clients/${clientId}/onboarding/details`, someDetails);
  }
  const victims = new Map<Work, Victim>();
  for (const one of work) if (one.kind === "key") victims.set(one, await aVictim(gatewayUrl(), system.adminKey, victims.size));
  const lastId = async (name: "payments" | "kyc") => {
    const { rows } = await databases[name].query<{ id: string }>("select coalesce(max(id), 0) as id from outbox");
    return rows[0]?.id ?? "0";
  };
  const outboxIds = { payments: await lastId("payments"), kyc: await lastId("kyc") };
  const opened = stack.move();
  return {
    scene: { ...{ system, gatewayUrl, apiKey, proxy, report, signal }, database: databases.payments },
    gatewayUrls: stage.replicas.gateway.map(({ url }) => url),
    endpoint: { id: endpointId, businessId, types: toldTypes, receiver },
    ...{ clientId, victims, outboxIds },
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}
