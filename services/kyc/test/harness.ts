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
import { openCallbackDoor } from "./callback-door.ts";
import { callbackSecret, providerToken, type Submission, startSandbox } from "./sandbox.ts";

export type Harness = Awaited<ReturnType<typeof startHarness>>;
export type CreateRequest = MessageInitShape<typeof KycApplicationService.method.createKycApplication.input>;

const eventNames = new Map<number, string>(
  Object.entries(KycEventType).map(([name, value]) => [value, name.replace("KYC_", "")]),
);

export const blockedClient = "0195a000-0000-7000-8000-00000000000b";
export const goodClient = "0195a000-0000-7000-8000-00000000000c";

/** The service on a database and a sandbox of its own. Callbacks arrive while the door is open. */
export async function startHarness(options: { providerTimeoutMs?: number } = {}) {
  await using stack = new AsyncDisposableStack();
  const sandbox = stack.use(await startSandbox());
  const door: { isOpen: boolean; kyc?: RpcClient<typeof KycApplicationService> } = { isOpen: false };
  const callbacks = stack.use(await openCallbackDoor(() => (door.isOpen ? door.kyc : undefined)));
  const service = stack.use(
    await startTestService(kyc, {
      settings: {
        ...kycSettings(sandbox.url, callbacks.url),
        KYC_PROVIDER_TIMEOUT_MS: String(options.providerTimeoutMs ?? 3_000),
        KYC_CHECK_SECONDS: "300",
      },
      replace: {
        clients: {
          standing: async (_businessId, id) =>
            id.toLowerCase() === goodClient ? "GOOD" : id === blockedClient ? "BLOCKED" : "UNKNOWN",
        },
      },
    }),
  );
  const { channel, sql } = service;
  const client = createRpcClient(KycApplicationService, channel);
  door.kyc = client;

  const outbox = async (topic: string) =>
    await sql<{ key: string; payload: Buffer }>("select key, payload from outbox where topic = ? order by id", [topic]);

  const harness = {
    ...service,
    sandbox,
    callbacks,
    door,
    kyc: client,
    create: (caller = aBusinessCaller(), request: CreateRequest = {}) =>
      client.createKycApplication({ locale: "fr", ...request }, { caller, timeoutMs: 20_000 }),
    /** Reads after a refresh, however short ago the last one was. */
    async refreshed(id: string, caller: CallOptions["caller"]): Promise<KycApplicationMessage> {
      await sql("update kyc_application set refreshed_at = null where id = ?", [id]);
      return await client.getKycApplication({ id }, { caller });
    },
    /** Makes the checks that are due, by so many replicas, until none is. */
    async checkDue(replicas = 1): Promise<void> {
      await using checking = new AsyncDisposableStack();
      for (let replica = 0; replica < replicas; replica++) checking.use(checkApplications(service.context, 20));
      await eventually(async () => {
        const due = await sql("select id from kyc_application where next_check_at <= now() or leased_until is not null");
        if (due.length > 0) throw new Error(`${due.length} checks are still due`);
      });
    },
    /** What was announced of an application, in order. */
    async events(id: string): Promise<KycEvent[]> {
      const all = (await outbox("kyc.v1")).map(({ payload }) => fromBinary(KycEventSchema, payload));
      return all.filter(({ application }) => application?.id === id);
    },
    /** The keys by which Kafka orders what is announced, oldest first. */
    async eventKeys(): Promise<string[]> {
      return (await outbox("kyc.v1")).map(({ key }) => key);
    },
    async eventNames(id: string): Promise<string[]> {
      return (await harness.events(id)).map(({ type }) => eventNames.get(type) ?? "");
    },
    async audited(id: string): Promise<ActionRecorded[]> {
      const all = (await outbox("audit.v1")).map(({ payload }) => fromBinary(ActionRecordedSchema, payload));
      return all.filter(({ entityId }) => entityId === id);
    },
    /** An application that an applicant went through with, as we know it after asking. */
    async aDecidedApplication(submission: Submission, caller = aBusinessCaller(), request: CreateRequest = {}) {
      const { id, linkUrl } = await harness.create(caller, request);
      await sandbox.submit(linkUrl, submission);
      return await eventually(async () => {
        const application = await harness.refreshed(id, caller);
        const { status } = await sandbox.application(id);
        if (status !== "COMPLETED" && status !== "FAILED") throw new Error(`still ${status}`);
        return application;
      });
    },
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
  const running = stack.move();
  return harness;
}

/** The settings of its own that the service needs. */
export const kycSettings = (providerUrl: string, callbackUrl: string) => ({
  // Nobody: a test's applications name no client, or what is said of them is made up.
  CLIENTS_URLS: "http://127.0.0.1:9",
  SECRET_ENCRYPTION_KEYS: `k1:${Buffer.alloc(32, 7).toString("base64")}`,
  KYC_PROVIDER_URL: providerUrl,
  KYC_PROVIDER_TOKEN: providerToken,
  KYC_CALLBACK_URL: callbackUrl,
  KYC_CALLBACK_SECRETS: callbackSecret,
});
