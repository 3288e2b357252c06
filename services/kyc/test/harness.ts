import { type ActionRecorded, ActionRecordedSchema } from "@amana/contracts/identity/v1/audit_events_pb";
import type { KycApplication as KycApplicationMessage } from "@amana/contracts/kyc/v1/kyc_application_pb";
import { KycApplicationService } from "@amana/contracts/kyc/v1/kyc_application_service_pb";
import { type KycEvent, KycEventSchema, KycEventType } from "@amana/contracts/kyc/v1/kyc_events_pb";
import { type CallOptions, createRpcClient, type RpcClient } from "@amana/rpc";
import { createLogger } from "@amana/runtime";
import { createSecretBox } from "@amana/secret-box";
import { aBusinessCaller, createTestDatabase, eventually, startTestServer } from "@amana/testing";
import { fromBinary, type MessageInitShape } from "@bufbuild/protobuf";
import type { Context } from "../src/context.ts";
import { database } from "../src/orm.ts";
import { rpcServices } from "../src/rpc/index.ts";
import { createHttpProvider } from "../src/verification-provider/http-provider.ts";
import { openCallbackDoor } from "./callback-door.ts";
import { callbackSecret, providerToken, type Submission, startSandbox } from "./sandbox.ts";

export type Harness = Awaited<ReturnType<typeof startHarness>>;
export type CreateRequest = MessageInitShape<typeof KycApplicationService.method.createKycApplication.input>;

const eventNames = new Map<number, string>(
  Object.entries(KycEventType).map(([name, value]) => [value, name.replace("KYC_", "")]),
);

export const blockedClient = "0195a000-0000-7000-8000-00000000000b";
export const goodClient = "0195a000-0000-7000-8000-00000000000c";

/** The service on a database and a sandbox of its own, over real RPC. Callbacks arrive while the door is open; no jobs run. */
export async function startHarness(options: { providerTimeoutMs?: number } = {}) {
  const stack = new AsyncDisposableStack();
  const logger = createLogger("test", process.env["TEST_LOG_LEVEL"] ?? "silent");
  const { orm, url } = stack.use(await createTestDatabase("kyc", database));
  const sandbox = stack.use(await startSandbox());
  const door: { isOpen: boolean; kyc?: RpcClient<typeof KycApplicationService> } = { isOpen: false };
  const callbacks = stack.use(await openCallbackDoor(() => (door.isOpen ? door.kyc : undefined)));
  const provider = stack.use(
    createHttpProvider({
      url: sandbox.url,
      token: providerToken,
      callbackUrl: callbacks.url,
      timeoutMs: options.providerTimeoutMs ?? 3_000,
    }),
  );
  const context: Context = {
    orm,
    provider,
    clients: {
      standing: async (_businessId, id) =>
        id.toLowerCase() === goodClient ? "good" : id === blockedClient ? "blocked" : "unknown",
    },
    logger,
    secrets: createSecretBox([{ id: "k1", key: Buffer.alloc(32, 7) }]),
    callbackSecrets: [callbackSecret],
    checkPausesSeconds: [300],
  };
  const { channel } = stack.use(await startTestServer(rpcServices(context)));
  const kyc = createRpcClient(KycApplicationService, channel);
  door.kyc = kyc;

  const sql = async <Row = Record<string, unknown>>(text: string, values: unknown[] = []): Promise<Row[]> =>
    await orm.em.fork().execute<Row[]>(text, values);
  const outbox = async (topic: string) =>
    await sql<{ key: string; payload: Buffer }>("select key, payload from outbox where topic = ? order by id", [topic]);

  const harness = {
    context,
    databaseUrl: url,
    sandbox,
    callbacks,
    door,
    kyc,
    sql,
    create: (caller = aBusinessCaller(), request: CreateRequest = {}) =>
      kyc.createKycApplication({ locale: "fr", ...request }, { caller, timeoutMs: 20_000 }),
    /** Reads after a refresh, however short ago the last one was. */
    async refreshed(id: string, caller: CallOptions["caller"]): Promise<KycApplicationMessage> {
      await sql("update kyc_application set refreshed_at = null where id = ?", [id]);
      return await kyc.getKycApplication({ id }, { caller });
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
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
  return harness;
}
