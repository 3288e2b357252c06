import { generateApiKey, hashApiKey, prefixOf } from "@amana/api-keys";
import { AccountService } from "@amana/contracts/clients/v1/account_service_pb";
import { BeneficiaryService } from "@amana/contracts/clients/v1/beneficiary_service_pb";
import { ClientService } from "@amana/contracts/clients/v1/client_service_pb";
import { OnboardingService } from "@amana/contracts/clients/v1/onboarding_service_pb";
import { ApiKeyService } from "@amana/contracts/identity/v1/api_key_service_pb";
import { BusinessService } from "@amana/contracts/identity/v1/business_service_pb";
import { InvitationService } from "@amana/contracts/identity/v1/invitation_service_pb";
import { KeyLeaseService, type KeyResolution, KeyRole, KeyState } from "@amana/contracts/identity/v1/key_lease_service_pb";
import { OperatorKeyService } from "@amana/contracts/identity/v1/operator_key_service_pb";
import { RateLimitService } from "@amana/contracts/identity/v1/rate_limit_service_pb";
import { KycApplicationService } from "@amana/contracts/kyc/v1/kyc_application_service_pb";
import { DeadLetterService } from "@amana/contracts/messaging/v1/dead_letter_service_pb";
import { CheckoutService } from "@amana/contracts/payments/v1/checkout_service_pb";
import { PaymentLinkService } from "@amana/contracts/payments/v1/payment_link_service_pb";
import { PaymentService } from "@amana/contracts/payments/v1/payment_service_pb";
import { ReceiptService } from "@amana/contracts/payments/v1/receipt_service_pb";
import { RefundService } from "@amana/contracts/payments/v1/refund_service_pb";
import { StatementService } from "@amana/contracts/payments/v1/statement_service_pb";
import { EventService } from "@amana/contracts/webhooks/v1/event_service_pb";
import { WebhookEndpointService } from "@amana/contracts/webhooks/v1/webhook_endpoint_service_pb";
import { type Call, type Implementations, type ServedService, serve } from "@amana/rpc";
import { createLogger, type Logger, uuidv7 } from "@amana/runtime";
import { startTestServer } from "@amana/testing";
import type { DescService } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import { createApp } from "../src/app.ts";
import { createBulkheadChannel } from "../src/bulkheads/bulkhead-channel.ts";
import type { Config } from "../src/config.ts";
import { createGateway, type Gateway } from "../src/gateway.ts";
import type { RateLimitSettings } from "../src/rate-limit/rate-limits.ts";

const services = {
  keyLeases: KeyLeaseService,
  rateLimits: RateLimitService,
  businesses: BusinessService,
  apiKeys: ApiKeyService,
  invitations: InvitationService,
  operatorKeys: OperatorKeyService,
  kycApplications: KycApplicationService,
  clients: ClientService,
  onboarding: OnboardingService,
  beneficiaries: BeneficiaryService,
  accounts: AccountService,
  payments: PaymentService,
  paymentLinks: PaymentLinkService,
  checkout: CheckoutService,
  receipts: ReceiptService,
  refunds: RefundService,
  statements: StatementService,
  webhookEndpoints: WebhookEndpointService,
  events: EventService,
  deadLetters: DeadLetterService,
};

/**
 * Services whose calls serve several requests at once. These calls are not recorded in `received`.
 */
const servicesForAllRequests: DescService[] = [KeyLeaseService, RateLimitService];

/** RPC implementations of the services behind a test gateway. An absent RPC is unimplemented. */
export type Behaviour = { [N in keyof typeof services]: Partial<Implementations<(typeof services)[N]>> };

/** A call that a service received. */
export interface ReceivedCall {
  readonly rpc: string;
  readonly request: unknown;
  readonly call: Call;
}

type Resolution = Partial<Omit<KeyResolution, "$typeName" | "$unknown">>;

/** Starts a gateway that calls fake services of the test over real RPC. */
export async function startTestGateway(
  options: {
    allowInsecureUrls?: boolean;
    leaseMs?: number;
    logger?: Logger;
    /** All limits are off by default, because tests send many requests. */
    limits?: RateLimitSettings;
    loadBounds?: Gateway["loadBounds"];
    byteBounds?: Partial<Config["byteBounds"]>;
    connectionBounds?: Partial<Config["connectionBounds"]>;
    fingerprintKeys?: Gateway["fingerprintKeys"];
    checkout?: Partial<Gateway["checkout"]>;
    traceRatio?: number;
    trustedProxies?: string[];
    sandboxUrl?: string;
    /** Clock of the rate limits and connection limits. */
    nowMs?: () => number;
  } = {},
) {
  const behaviour = Object.fromEntries(Object.keys(services).map((name) => [name, {}])) as unknown as Behaviour;
  const received: ReceivedCall[] = [];
  const keys = new Map<string, Resolution>();
  const leaseMs = options.leaseMs ?? 0;
  behaviour.keyLeases.resolveKeys = async ({ keyHashes }) => ({
    resolutions: keyHashes.map((hash) => keys.get(Buffer.from(hash).toString("hex")) ?? { state: KeyState.UNKNOWN }),
    leaseMs,
  });

  const serveFake = <S extends DescService>(service: S, implementations: object): ServedService => {
    const rpcs = service.methods.map((method) => [
      method.localName,
      async (request: unknown, call: Call) => {
        if (!servicesForAllRequests.includes(service)) received.push({ rpc: method.name, request, call });
        const implementation = (implementations as Record<string, (request: unknown, call: Call) => Promise<unknown>>)[
          method.localName
        ];
        if (!implementation) throw new ConnectError(method.name, Code.Unimplemented);
        return await implementation(request, call);
      },
    ]);
    return serve(service, Object.fromEntries(rpcs) as Implementations<S>);
  };
  const server = await startTestServer(
    Object.entries(services).map(([name, service]) => serveFake(service, behaviour[name as keyof Behaviour])),
  );
  const channel = createBulkheadChannel(1, server.channel);
  const channels = { identity: channel, kyc: channel, clients: channel, payments: channel, webhooks: channel };
  const settings = {
    rateLimits: options.limits ?? {},
    loadBounds: options.loadBounds ?? { total: 1_000, perCaller: 1_000 },
    byteBounds: { perBusiness: 2 ** 24, perNetwork: 2 ** 22, total: 2 ** 27, ...options.byteBounds },
    connectionBounds: { perNetwork: 0, requestMs: 30_000, stallMs: 30_000, ...options.connectionBounds },
    allowInsecureUrls: options.allowInsecureUrls ?? false,
    fingerprintKeys: options.fingerprintKeys ?? [Buffer.alloc(32)],
    checkout: {
      keys: [Buffer.alloc(32, 3)],
      cardFormOrigins: ["https://forms.test"],
      cardMarksDir: undefined,
      hasCaptcha: false,
      ...options.checkout,
    },
    traceRatio: options.traceRatio ?? 0,
    trustedProxies: options.trustedProxies ?? [],
    sandboxUrl: options.sandboxUrl,
  };
  const logger = options.logger ?? createLogger("test", process.env["TEST_LOG_LEVEL"] ?? "silent");
  const gateway = createGateway(channels, settings, logger, options.nowMs);
  const app = await createApp(gateway);

  /** Creates a key that identity resolves. With `admin`, the key is an operator key. */
  const aKey = ({ admin = false, ...resolution }: Resolution & { admin?: boolean } = {}) => {
    const key = generateApiKey(admin ? "ak_" : "sk_test_");
    const businessId = admin ? "" : uuidv7();
    const resolved = {
      organizationId: admin ? 0 : 7,
      state: KeyState.LIVE,
      role: admin ? KeyRole.ADMIN : KeyRole.BUSINESS,
      keyId: uuidv7(),
      keyPrefix: prefixOf(key),
      businessId,
      ...resolution,
    };
    keys.set(hashApiKey(key).toString("hex"), resolved);
    const revoke = () => keys.set(hashApiKey(key).toString("hex"), { ...resolved, state: KeyState.REVOKED });
    return { key, businessId: resolved.businessId, headers: { authorization: `Bearer ${key}` }, revoke };
  };

  return {
    app,
    bytes: gateway.bytes,
    connections: gateway.connections,
    readiness: gateway.readiness,
    behaviour,
    received,
    aKey,
    business: aKey(),
    admin: aKey({ admin: true }),
    async [Symbol.asyncDispose]() {
      await app.close();
      await server[Symbol.asyncDispose]();
    },
  };
}

export type TestGateway = Awaited<ReturnType<typeof startTestGateway>>;
