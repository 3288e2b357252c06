import { type ActionRecorded, ActionRecordedSchema } from "@amana/contracts/identity/v1/audit_events_pb";
import type { KycApplication as KycApplicationMessage } from "@amana/contracts/kyc/v1/kyc_application_pb";
import { KycApplicationService } from "@amana/contracts/kyc/v1/kyc_application_service_pb";
import { type KycEvent, KycEventSchema, KycEventType } from "@amana/contracts/kyc/v1/kyc_events_pb";
import { type CallOptions, createRpcClient, type RpcClient } from "@amana/rpc";
import { startTestService } from "@amana/service-host/testing";
import { aBusinessCaller, eventually } from "@amana/testing";
import { fromBinary, type MessageInitShape } from "@bufbuild/protobuf";
import { checkApplications } from "../src/jobs/check-applications.ts";
import { kyc } from "../src/service.ts";
import type { ProviderName } from "../src/verification-provider/verification-provider.ts";
import { startCallbackServer } from "./callback-server.ts";
import { callbackSecret, providerToken, type Submission, startSandbox } from "./sandbox.ts";

export type Harness = Awaited<ReturnType<typeof startHarness>>;
export type CreateRequest = MessageInitShape<typeof KycApplicationService.method.createKycApplication.input>;

const eventNames = new Map<number, string>(
  Object.entries(KycEventType).map(([name, value]) => [value, name.replace("KYC_", "")]),
);

export const blockedClient = "0195a000-0000-7000-8000-00000000000b";
export const unblockedClient = "0195a000-0000-7000-8000-00000000000c";

/**
 * Starts kyc with its own database and sandbox. Callbacks of the sandbox reach kyc only while
 * `callbackTarget.isReachable` is true.
 */
export async function startHarness(
  options: { providerTimeoutMs?: number; provider?: ProviderName; settings?: Record<string, string> } = {},
) {
  await using stack = new AsyncDisposableStack();
  const { provider = "port" } = options;
  const callbackTarget: { isReachable: boolean; kyc?: RpcClient<typeof KycApplicationService> } = { isReachable: false };
  const callbacks = stack.use(await startCallbackServer(() => (callbackTarget.isReachable ? callbackTarget.kyc : undefined)));
  const sandbox = stack.use(await startSandbox({ KYC_CALLBACK_URL: callbacks.url }));
  const service = stack.use(
    await startTestService(kyc, {
      settings: {
        ...kycSettings(sandbox.url, callbacks.url, provider),
        KYC_PROVIDER_TIMEOUT_MS: String(options.providerTimeoutMs ?? 3_000),
        KYC_CHECK_SECONDS: "300",
        ...options.settings,
      },
      contextOverrides: {
        clients: {
          readStanding: async (_businessId, id) =>
            id.toLowerCase() === unblockedClient ? "GOOD" : id === blockedClient ? "BLOCKED" : "UNKNOWN",
        },
      },
    }),
  );
  const { channel, sql } = service;
  const client = createRpcClient(KycApplicationService, channel);
  callbackTarget.kyc = client;

  const readOutbox = async (topic: string) =>
    await sql<{ key: string; payload: Buffer }>("select key, payload from outbox where topic = ? order by id", [topic]);

  const harness = {
    ...service,
    sandbox,
    callbacks,
    callbackTarget,
    kyc: client,
    create: (caller = aBusinessCaller(), request: CreateRequest = {}) =>
      client.createKycApplication({ locale: "fr", ...request }, { caller, timeoutMs: 20_000 }),
    /**
     * Reads an application after a refresh at the provider, even if the last refresh was less than
     * ten seconds ago.
     */
    async readRefreshed(id: string, caller: CallOptions["caller"]): Promise<KycApplicationMessage> {
      await sql("update kyc_application set refreshed_at = null where id = ?", [id]);
      return await client.getKycApplication({ id }, { caller });
    },
    /** Runs the job `checkApplications` in `replicas` replicas until no check is due. */
    async checkDue(replicas = 1): Promise<void> {
      await using jobs = new AsyncDisposableStack();
      for (let replica = 0; replica < replicas; replica++) jobs.use(checkApplications(service.context, 20));
      await eventually(async () => {
        const dueChecks = await sql("select id from kyc_application where next_check_at <= now() or leased_until is not null");
        if (dueChecks.length > 0) throw new Error(`${dueChecks.length} checks are still due`);
      });
    },
    /** Returns the emitted events of an application in the order of their emission. */
    async readEvents(id: string): Promise<KycEvent[]> {
      const allEvents = (await readOutbox("kyc.v1")).map(({ payload }) => fromBinary(KycEventSchema, payload));
      return allEvents.filter(({ application }) => application?.id === id);
    },
    /** Returns the Kafka keys of all emitted events, oldest first. */
    async readEventKeys(): Promise<string[]> {
      return (await readOutbox("kyc.v1")).map(({ key }) => key);
    },
    async readEventNames(id: string): Promise<string[]> {
      return (await harness.readEvents(id)).map(({ type }) => eventNames.get(type) ?? "");
    },
    async readAuditEvents(id: string): Promise<ActionRecorded[]> {
      const allEvents = (await readOutbox("audit.v1")).map(({ payload }) => fromBinary(ActionRecordedSchema, payload));
      return allEvents.filter(({ entityId }) => entityId === id);
    },
    /**
     * Creates an application, submits documents in the sandbox, and returns the application when
     * the result is known.
     */
    async aDecidedApplication(submission: Submission, caller = aBusinessCaller(), request: CreateRequest = {}) {
      const { id, linkUrl } = await harness.create(caller, request);
      await sandbox.submit(linkUrl, submission);
      return await eventually(async () => {
        const application = await harness.readRefreshed(id, caller);
        const { status } = await sandbox.application(id);
        if (status !== "COMPLETED" && status !== "FAILED") throw new Error(`the application is still ${status}`);
        return application;
      });
    },
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
  const running = stack.move();
  return harness;
}

/** Returns the settings that kyc needs in addition to the settings of all services. */
export const kycSettings = (
  providerUrl: string,
  callbackUrl: string,
  provider: ProviderName = "port",
): Record<string, string> => ({
  // No server listens on this port. Tests therefore create applications without a client, or
  // replace `clients`.
  CLIENTS_URLS: "http://127.0.0.1:9",
  SECRET_ENCRYPTION_KEYS: `k1:${Buffer.alloc(32, 7).toString("base64")}`,
  KYC_CALLBACK_URL: callbackUrl,
  KYC_PROVIDER: provider,
  ...providerSettings[provider](providerUrl),
});

/**
 * For each provider, a function that returns the settings of the provider for the sandbox's
 * account.
 */
export const providerSettings: Readonly<Record<ProviderName, (sandboxUrl: string) => Record<string, string>>> = {
  port: (url) => ({ KYC_PROVIDER_URL: url, KYC_PROVIDER_TOKEN: providerToken, KYC_CALLBACK_SECRETS: callbackSecret }),
  didit: (url) => ({
    KYC_DIDIT_URL: `${url}/didit`,
    KYC_DIDIT_API_KEY: "sandbox",
    KYC_DIDIT_ENVIRONMENT: "sandbox",
    KYC_DIDIT_WORKFLOW_ID: "11111111-1111-4111-8111-111111111111",
    KYC_DIDIT_WORKFLOW_ID_STILL: "22222222-2222-4222-8222-222222222222",
    KYC_DIDIT_WEBHOOK_SECRETS: callbackSecret,
  }),
  sumsub: (url) => ({
    KYC_SUMSUB_URL: `${url}/sumsub`,
    KYC_SUMSUB_APP_TOKEN: "sbx:sandbox",
    KYC_SUMSUB_SECRET_KEY: "sandbox",
    KYC_SUMSUB_SANDBOX: "true",
    KYC_SUMSUB_LEVEL: "amana",
    KYC_SUMSUB_LEVEL_ID_CARD: "amana id card",
    KYC_SUMSUB_LEVEL_PASSPORT: "amana passport",
    KYC_SUMSUB_LEVEL_STILL: "amana still",
    KYC_SUMSUB_AML_PER_MINUTE: "6000",
    KYC_SUMSUB_WEBHOOK_SECRETS: callbackSecret,
  }),
};
