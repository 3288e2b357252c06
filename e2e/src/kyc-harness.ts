import { randomUUID } from "node:crypto";
import type { Amana } from "@amana/client";
import type { ApiCaller } from "@amana/dev-env/demo/api";
import { eventually } from "@amana/dev-env/eventually";
import type { System } from "@amana/dev-env/system";
import { expect } from "vitest";
import { aPerson, callSandbox, type TestBusiness } from "./test-system.ts";

/** Path of kyc applications in the public API. */
export const applicationsPath = "/api/v1/kyc/applications";

/**
 * Event types of applications, except the notices about expiring documents. An endpoint receives
 * KYC_CANCELED only if it selects this type.
 */
export const kycEventTypes = [
  "KYC_COMPLETED",
  "KYC_REJECTED",
  "KYC_NEEDS_REVIEW",
  "KYC_REVIEW_RESOLVED",
  "KYC_FAILED",
  "KYC_EXPIRED",
  "KYC_CANCELED",
] as const;

export interface Application {
  readonly id: string;
  readonly link: string;
}

/** Creates an application with the public API. */
export async function anApplication(
  { call }: { call: ApiCaller },
  body: object = {},
  headers: Record<string, string> = {},
): Promise<Application> {
  const created = await call("POST", applicationsPath, body, headers);
  if (created.status !== 201) throw new Error(`POST ${applicationsPath} returned ${created.status}: ${created.text}`);
  return { id: String(created.body["id"]), link: String(created.body["link_url"]) };
}

/** Creates a client with the public API and returns its id. */
export async function aClient({ amana }: { amana: Amana }): Promise<string> {
  return (await amana.clients.createPerson({ ...aPerson, email: `${randomUUID()}@example.dz` })).id;
}

export const tokenOf = (link: string): string => new URL(link).pathname.split("/").at(-1) ?? "";

/**
 * Simulates an action of the applicant, the provider's reviewer or the clock on a link. Throws if
 * the link rejects it.
 */
export const actOnLink = (system: System, link: string, action: "open" | "submit" | "review" | "expire", body: object = {}) =>
  callSandbox(system, "POST", `/sandbox/kyc/${tokenOf(link)}/${action}`, body);

/** Calls `actOnLink`. Returns true if the sandbox accepted the action, and false if it did not. */
export const tryToActOnLink = (...args: Parameters<typeof actOnLink>): Promise<boolean> =>
  actOnLink(...args).then(
    () => true,
    () => false,
  );

/** State of an application at the provider. */
export interface ProviderView {
  readonly provider_id: string;
  readonly status: string;
  readonly verdict?: string;
  readonly attempts_used: number;
  readonly calls: readonly { readonly operation: string; readonly at: string; readonly parameters: Record<string, unknown> }[];
  readonly callbacks: readonly (Record<string, unknown> & { readonly state: string })[];
}

export const readProviderView = (system: System, id: string) =>
  callSandbox(system, "GET", `/sandbox/kyc?reference=${id}`) as Promise<ProviderView>;

export const setFault = (system: System, operation: string, mode: string, times = 1) =>
  callSandbox(system, "PUT", "/sandbox/faults", { operation, mode, times });

export const clearFaults = (system: System) => callSandbox(system, "DELETE", "/sandbox/faults");

/** Waits for the webhook of this type and application or payment. Throws after the timeout. */
export async function waitForWebhook({ receiver }: TestBusiness, kind: string, id: string, timeoutMs = 90_000) {
  const webhook = await receiver.next(kind, id, timeoutMs);
  if (!webhook)
    throw new Error(`No ${kind} of ${id} was received. Rejected deliveries: ${receiver.refused.join("; ") || "none"}`);
  return webhook;
}

/** Returns the event type of each event that was received for an application, sorted. */
export function webhookTypesOf({ receiver }: TestBusiness, id: string): string[] {
  const webhooks = receiver.received.filter(({ body }) => body["application_id"] === id);
  return [...new Map(webhooks.map(({ body, event }) => [body["id"], event])).values()].sort();
}

/** Waits until the provider has no pending callback for the application. Returns the callbacks. */
export const waitForCallbacks = (system: System, id: string) =>
  eventually(async () => {
    const { callbacks } = await readProviderView(system, id);
    expect(callbacks.map(({ state }) => state)).not.toContain("pending");
    return callbacks;
  });
