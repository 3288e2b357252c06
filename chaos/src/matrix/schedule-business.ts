import { randomUUID } from "node:crypto";
import { aPerson, someDetails } from "@amana/dev-env/demo/a-person";
import { apiCaller } from "@amana/dev-env/demo/api";
import type { Endpoint } from "../events/endpoints.ts";
import { type Receiver, startReceivers } from "../events/start-receivers.ts";
import { createVictim, type Victim } from "../keys/revoke.ts";
import { createRandom } from "../random.ts";
import type { RefundContext } from "../refunds/request-refunds.ts";
import type { Report } from "../report.ts";
import type { MatrixSystem } from "./matrix-system.ts";
import type { Schedule, Work } from "./schedule.ts";

/** The business of one schedule. It is created before the faults start. */
export interface ScheduleBusiness extends AsyncDisposable {
  readonly context: RefundContext;
  readonly gatewayUrls: readonly string[];
  readonly endpoint: Endpoint;
  /** The client of all verifications that have `ofClient`. */
  readonly clientId: string | undefined;
  /** For each revocation in the work, a separate business whose key is revoked. */
  readonly victims: ReadonlyMap<Work, Victim>;
  /** Id of the last row of each outbox before this business was created. */
  readonly outboxIds: Readonly<Record<"payments" | "kyc", string>>;
}

/** Event types to which the endpoint subscribes. The work can cause only these types. */
export const eventTypes = [
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

export async function createBusiness(
  matrixSystem: MatrixSystem,
  { work }: Schedule,
  { report, signal }: { report: Report; signal: AbortSignal },
): Promise<ScheduleBusiness> {
  const { system, gatewayUrl, databases, proxy } = matrixSystem;
  await using stack = new AsyncDisposableStack();
  const created = await apiCaller(gatewayUrl(), system.adminKey)("POST", "/api/v1/businesses", { name: "Épicerie" });
  const [businessId, apiKey] = [String(created.body["id"]), String(created.body["api_key"])];
  const post = async (path: string, body: object) => {
    const response = await apiCaller(gatewayUrl(), apiKey)("POST", path, body);
    if (response.status !== 201) throw new Error(`${path} returned ${response.status} before any fault: ${response.text}`);
    return String(response.body["id"]);
  };
  const receivers = stack.use(await startReceivers(createRandom(work.length), 1));
  const receiver = receivers.receivers[0] as Receiver;
  const endpointId = await post("/api/v1/webhook-endpoints", { url: receiver.url, events: eventTypes });
  let clientId: string | undefined;
  if (work.some((item) => item.kind === "verification" && item.ofClient)) {
    clientId = await post("/api/v1/clients/person", { ...aPerson, email: `${randomUUID()}@example.dz` });
    await post(`/api/v1/clients/${clientId}/onboarding/details`, someDetails);
  }
  const victims = new Map<Work, Victim>();
  for (const item of work)
    if (item.kind === "key") victims.set(item, await createVictim(gatewayUrl(), system.adminKey, victims.size));
  const readLastId = async (name: "payments" | "kyc") => {
    const { rows } = await databases[name].query<{ id: string }>("select coalesce(max(id), 0) as id from outbox");
    return rows[0]?.id ?? "0";
  };
  const outboxIds = { payments: await readLastId("payments"), kyc: await readLastId("kyc") };
  const resources = stack.move();
  return {
    context: { ...{ system, gatewayUrl, apiKey, proxy, report, signal }, database: databases.payments },
    gatewayUrls: matrixSystem.replicas.gateway.map(({ url }) => url),
    endpoint: { id: endpointId, businessId, types: eventTypes, receiver },
    ...{ clientId, victims, outboxIds },
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
}
