import { hashApiKey } from "@amana/api-keys";
import { ApiKeyService } from "@amana/contracts/identity/v1/api_key_service_pb";
import { BusinessService } from "@amana/contracts/identity/v1/business_service_pb";
import { InvitationService } from "@amana/contracts/identity/v1/invitation_service_pb";
import { KeyLeaseService, KeyState } from "@amana/contracts/identity/v1/key_lease_service_pb";
import { OperatorKeyService } from "@amana/contracts/identity/v1/operator_key_service_pb";
import { RateLimitService } from "@amana/contracts/identity/v1/rate_limit_service_pb";
import { transaction } from "@amana/database";
import { type Caller, createRpcClient, type IdempotencyKey, platformCaller } from "@amana/rpc";
import { startTestService } from "@amana/service-host/testing";
import { adminCaller, forAllTenants } from "@amana/testing";
import { createLeaseWait } from "../src/key-lease/lease-wait.ts";
import { identity } from "../src/service.ts";

export const asAdmin = { caller: adminCaller, requestId: "request-1", address: "192.0.2.7" };
export const asPlatform = { caller: platformCaller };

export function withIdempotencyKey(key: string, body = "body"): { idempotencyKey: IdempotencyKey } {
  return { idempotencyKey: { key, route: "POST /api/v1/x", fingerprint: body } };
}

export type Identity = Awaited<ReturnType<typeof startIdentityForTest>>;

/**
 * Starts the service with its own database. By default, leases last 0 ms and lease waits end
 * immediately.
 */
export async function startIdentityForTest(options: { leaseMs?: number; wait?: (ms: number) => Promise<void> } = {}) {
  const stack = new AsyncDisposableStack();
  const clock = aClock();

  const start = async (leaseMs = options.leaseMs ?? 0, databaseUrl?: string) => {
    const leases = createLeaseWait({ leaseMs, wait: options.wait ?? (async () => {}) });
    const settings = { KEY_MODE: "test" };
    const service = stack.use(await startTestService(identity, { settings, databaseUrl, clock, contextOverrides: { leases } }));
    const { context, channel } = service;
    const keyLeases = createRpcClient(KeyLeaseService, channel);
    const { keyUse } = context;
    return {
      ...service,
      orm: context.orm,
      /** Runs a transaction on the service's database, with access to the rows of all tenants. */
      transaction: <T>(work: Parameters<typeof transaction<T>>[1]) => forAllTenants(transaction<T>)(context.orm, work),
      businesses: createRpcClient(BusinessService, channel),
      apiKeys: createRpcClient(ApiKeyService, channel),
      invitations: createRpcClient(InvitationService, channel),
      operatorKeys: createRpcClient(OperatorKeyService, channel),
      rateLimits: createRpcClient(RateLimitService, channel),
      keyLeases,
      /** Resolves a key as the gateway does. */
      async resolve(plaintext = "") {
        const { resolutions } = await keyLeases.resolveKeys({ keyHashes: [hashApiKey(plaintext)] }, asPlatform);
        // Waits until the last use is written, so that the write does not run during later
        // requests.
        await keyUse.flush();
        return resolutions[0]!;
      },
    };
  };
  const firstReplica = await start();

  return {
    ...firstReplica,
    clock,
    addReplica: (leaseMs: number) => start(leaseMs, firstReplica.databaseUrl),
    async stateOf(plaintext = "") {
      const { state } = await firstReplica.resolve(plaintext);
      return stateNames.get(state);
    },
    /** Returns the call options of a request with this key. */
    async optionsFor(plaintext = "") {
      const { businessId, keyId, keyPrefix } = await firstReplica.resolve(plaintext);
      const caller: Caller = { role: "business", businessId, keyId, keyPrefix };
      return { caller, requestId: "request-2", address: "192.0.2.8" };
    },
    async aBusiness(init: { name?: string } = {}) {
      return await firstReplica.businesses.createBusiness({ name: init.name ?? "Sahara Trading" }, asAdmin);
    },
    /** Returns the audit rows of a business, oldest first. */
    readAuditRows: (businessId: string) =>
      firstReplica.sql<AuditRow>("select * from audit_event where business_id = ? order by at, id", [businessId]),
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}

interface AuditRow {
  action: string;
  actor: string;
  entity_type: string;
  entity_id: string;
  before: Record<string, string | null> | null;
  after: Record<string, string | null>;
  request_id: string;
  address: string;
  reason: string | null;
}

const stateNames = new Map(Object.entries(KeyState).map(([name, value]) => [value as number, name]));

/** Creates a clock that starts at the current time and advances by 1 ms with each reading. */
function aClock() {
  let nowMs = Date.now();
  return {
    now: () => new Date(nowMs++),
    advance(ms: number) {
      nowMs += ms;
    },
  };
}
