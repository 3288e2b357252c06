import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { Logger } from "@amana/runtime";
import type { DiditConfig } from "../../src/verification-provider/didit/didit-config.ts";
import { createDiditProvider } from "../../src/verification-provider/didit/didit-provider.ts";
import type { SumsubConfig } from "../../src/verification-provider/sumsub/sumsub-config.ts";
import { createSumsubProvider } from "../../src/verification-provider/sumsub/sumsub-provider.ts";
import type {
  ApplicationToCreate,
  KnownApplication,
  ReceivedCallback,
} from "../../src/verification-provider/verification-provider.ts";
import { anApplication, anApplicationToCreate } from "../an-application.ts";
import { DiditImitation } from "./didit-imitation.ts";
import type { DiditOptions } from "./didit-sessions.ts";
import { SumsubImitation, type SumsubOptions } from "./sumsub-imitation.ts";

export const timeoutMs = 20_000;

/** Returns the fields that kyc has stored of an application directly after its creation. */
export const knownAs = (providerId: string, changes: Partial<KnownApplication> = {}): KnownApplication => ({
  ...anApplication().toKnownApplication(),
  providerId,
  ...changes,
});

export const { id: reference } = anApplication();

/** Returns a request for an application with a redirect to a shop. */
export const aCreationForShop = (): ApplicationToCreate => anApplicationToCreate({ redirectUrl: "https://shop.example/return" });

/** Starts a server that records callbacks and responds with the status `receiver.status`. */
async function startReceiver() {
  const received: ReceivedCallback[] = [];
  const receiver = { status: 204, received, url: "" };
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const headers = Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name, String(value)]));
    received.push({ body: Buffer.concat(chunks), headers });
    response.writeHead(receiver.status).end();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  receiver.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const stop = async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  };
  return { receiver, stop };
}

/** Returns a logger, and the list of the fields of all errors that it logs. */
function keepErrors() {
  const errors: Record<string, unknown>[] = [];
  const logger = { error: (fields: Record<string, unknown>) => errors.push(fields) } as unknown as Logger;
  return { errors, logger };
}

/** Adds a method that stops the vendor client, the imitation and the receiver of callbacks. */
const disposable = <P extends { readonly provider: AsyncDisposable; readonly vendor: { stop(): Promise<unknown> } }>(
  parts: P,
  stopReceiver: () => Promise<void>,
) => ({
  ...parts,
  async [Symbol.asyncDispose]() {
    await parts.provider[Symbol.asyncDispose]();
    await parts.vendor.stop();
    await stopReceiver();
  },
});

/** Settings of a workflow that meets all requirements of kyc. */
const workflowSettings = {
  face_liveness_method: "ACTIVE_3D",
  max_retry_attempts: 0,
  documents_allowed: { DZA: { P: { enabled: 1 }, ID: { enabled: 1 } } },
  expected_details_mismatch_action: "review",
  duplicated_user_action: "review",
};

/**
 * Starts the imitation of Didit and creates a Didit client for it. By default, the list of
 * workflows mixes both documented formats: the list is an object with `results`, and `features` is
 * a list.
 */
export async function startDidit({ workflow, ...options }: DiditOptions = {}, changes: Partial<DiditConfig> = {}) {
  const { receiver, stop } = await startReceiver();
  const vendor = new DiditImitation({
    workflows: { list: "page", features: "list" },
    callbackUrl: receiver.url,
    workflow: { ...workflow, settings: { ...workflowSettings, ...workflow?.settings } },
    ...options,
  });
  await vendor.start();
  const { errors, logger } = keepErrors();
  const config: DiditConfig = {
    url: vendor.url,
    apiKey: vendor.apiKey,
    environment: options.environment ?? "sandbox",
    workflowId: vendor.store.workflow.workflowId,
    workflowIdStill: undefined,
    webhookSecrets: [vendor.webhookSecret],
    destinationId: undefined,
    callbackUrl: receiver.url,
    uncompared: "refuse",
    timeoutMs,
    ...changes,
  };
  const provider = createDiditProvider(config, logger);
  return disposable({ vendor, provider, receiver, errors, config }, stop);
}

export const level = {
  id: "65a64728ee76e62ddabf1a62",
  name: "amana",
  docSets: [
    { idDocSetType: "IDENTITY", types: ["ID_CARD", "PASSPORT"], videoRequired: "docapture" },
    { idDocSetType: "SELFIE", types: ["SELFIE"], videoRequired: "passiveLiveness" },
  ],
};

/**
 * Starts the imitation of Sumsub with a level that meets all requirements of kyc, and creates a
 * Sumsub client for it.
 */
export async function startSumsub(options: SumsubOptions = {}, changes: Partial<SumsubConfig> = {}) {
  const { receiver, stop } = await startReceiver();
  const vendor = new SumsubImitation({ callbackUrl: receiver.url, ...options });
  vendor.store.levels = [level];
  await vendor.start();
  const { errors, logger } = keepErrors();
  const noLevels = { both: undefined, id_card: undefined, passport: undefined };
  const config: SumsubConfig = {
    url: vendor.url,
    appToken: vendor.appToken,
    secretKey: vendor.secretKey,
    isSandbox: true,
    video: { ...noLevels, both: level.name },
    still: noLevels,
    ttlHours: 72,
    ttlHoursMax: 720,
    amlPerMinute: 6_000,
    webhookSecrets: [vendor.webhookSecret],
    webhookId: undefined,
    callbackUrl: receiver.url,
    uncompared: "refuse",
    timeoutMs,
    ...changes,
  };
  const provider = createSumsubProvider(config, logger);
  return disposable({ vendor, provider, receiver, errors, config }, stop);
}
