import { createHmac } from "node:crypto";
import type { Secrets } from "./secrets.ts";

/** Services with a database and migrations. */
export const servicesWithDatabase = ["identity", "webhooks", "clients", "kyc", "payments"] as const;

/** All services. They are stopped in the reverse order. */
export const serviceNames = ["sandbox", ...servicesWithDatabase, "gateway"] as const;

export type ServiceName = (typeof serviceNames)[number];

/** Values from which the settings of the services are generated. */
export interface SettingsInput {
  readonly secrets: Secrets;
  readonly databaseUrls: Readonly<Record<string, string>>;
  readonly ports: Readonly<Record<ServiceName, number>>;
  /**
   * Addresses of the Kafka brokers. Undefined if the services send events directly to each other.
   */
  readonly brokers: string | undefined;
  readonly sandboxDir: string;
  /** Port of the sandbox's SMTP server. */
  readonly smtpPort: number;
  /** Verification provider of new applications. The sandbox simulates all of them. */
  readonly kycProvider: KycProvider;
}

export const loopbackUrl = (port: number): string => `http://127.0.0.1:${port}`;

/** Values of KYC_PROVIDER. "port" is the name of a provider. */
export const kycProviders = ["port", "didit", "sumsub"] as const;
export type KycProvider = (typeof kycProviders)[number];

const portProviderSettings = { KYC_PROVIDER_TOKEN: "sandbox" };
const kycCallbackSecret = "provider-callback-secret";
const satimCredentials = { SATIM_USERNAME: "sandbox", SATIM_PASSWORD: "sandbox" };

/** Topics that a service emits or consumes. The service gets only the MAC keys of these topics. */
const topics: Partial<Record<ServiceName, readonly string[]>> = {
  identity: ["audit.v1"],
  webhooks: ["payments.v1", "kyc.v1", "audit.v1"],
  clients: ["kyc.v1", "audit.v1"],
  kyc: ["kyc.v1", "audit.v1"],
  payments: ["payments.v1", "audit.v1"],
};

function eventSettings({ brokers, ports, secrets }: SettingsInput, name: ServiceName): Record<string, string> {
  const keyOf = (topic: string) => createHmac("sha256", secrets.eventSecret).update(topic).digest("base64");
  const keys = { EVENT_MAC_KEYS: topics[name]?.map((topic) => `${topic}=dev:${keyOf(topic)}`).join(",") ?? "" };
  if (brokers) return { EVENTS: "kafka", KAFKA_BROKERS: brokers, ...keys };
  const subscribers: [topic: string, service: ServiceName][] = [
    ["payments.v1", "webhooks"],
    ["kyc.v1", "webhooks"],
    ["kyc.v1", "clients"],
    ["audit.v1", "identity"],
  ];
  const addresses = subscribers.map(([topic, service]) => `${topic}=${loopbackUrl(ports[service])}`);
  return { EVENTS: "direct", DIRECT_SUBSCRIBERS: addresses.join(","), ...keys };
}

/** Settings of each service, in addition to the settings that all services have. */
const ownSettings: Record<ServiceName, (wiring: SettingsInput) => Record<string, string>> = {
  sandbox: ({ ports, sandboxDir, smtpPort }) => ({
    SANDBOX_PORT: String(ports.sandbox),
    SANDBOX_SMTP_PORT: String(smtpPort),
    SANDBOX_URL: loopbackUrl(ports.sandbox),
    SANDBOX_DATA_DIR: sandboxDir,
    ...satimCredentials,
    ...portProviderSettings,
    KYC_CALLBACK_SECRET: kycCallbackSecret,
    KYC_CALLBACK_URL: `${loopbackUrl(ports.gateway)}/callbacks/kyc`,
  }),
  identity: ({ secrets }) => ({
    KEY_MODE: "test",
    BOOTSTRAP_ADMIN_KEY: secrets.adminKey,
    AUDIT_SIGNING_KEY: secrets.auditKey.privateKey,
  }),
  webhooks: ({ secrets }) => ({ SECRET_ENCRYPTION_KEYS: `dev:${secrets.encryptionKey}`, ALLOW_INSECURE_WEBHOOKS: "true" }),
  clients: ({ secrets }) => ({ KYC_PUBLIC_KEYS: secrets.kycKey.publicKey }),
  kyc: ({ secrets, ports, kycProvider }) => ({
    ...portProviderSettings,
    ...vendorSettings(loopbackUrl(ports.sandbox)),
    ...kycProviderSettings(kycProvider),
    CALLER_PRIVATE_KEY: secrets.kycKey.privateKey,
    CLIENTS_URLS: loopbackUrl(ports.clients),
    KYC_PROVIDER_URL: loopbackUrl(ports.sandbox),
    KYC_CALLBACK_URL: `${loopbackUrl(ports.gateway)}/callbacks/kyc`,
    KYC_CALLBACK_SECRETS: kycCallbackSecret,
    SECRET_ENCRYPTION_KEYS: `dev:${secrets.encryptionKey}`,
  }),
  payments: ({ ports, smtpPort }) => ({
    ...satimCredentials,
    PUBLIC_URL: loopbackUrl(ports.gateway),
    SMTP_URL: `smtp://127.0.0.1:${smtpPort}`,
    MAIL_FROM: "Amana <receipts@amana.test>",
    SATIM_URL: `${loopbackUrl(ports.sandbox)}/payment/rest`,
    SATIM_TERMINAL_ID: "E010101010",
    SATIM_FORM_URL_TEMPLATE: `${loopbackUrl(ports.sandbox)}/payment/pay/{mdOrder}`,
  }),
  gateway: ({ ports, secrets }) => ({
    PORT: String(ports.gateway),
    CALLER_PRIVATE_KEY: secrets.gatewayKey.privateKey,
    FINGERPRINT_KEYS: secrets.fingerprintSecret,
    CHECKOUT_KEYS: secrets.checkoutSecret,
    CARD_FORM_ORIGINS: loopbackUrl(ports.sandbox),
    IDENTITY_URLS: loopbackUrl(ports.identity),
    KYC_URLS: loopbackUrl(ports.kyc),
    CLIENTS_URLS: loopbackUrl(ports.clients),
    PAYMENTS_URLS: loopbackUrl(ports.payments),
    WEBHOOKS_URLS: loopbackUrl(ports.webhooks),
    SANDBOX_URL: loopbackUrl(ports.sandbox),
    ALLOW_INSECURE_URLS: "true",
  }),
};

/**
 * Returns the settings with which kyc uses a verification provider for new applications. All other
 * providers stay configured, so that their applications can finish.
 */
export const kycProviderSettings = (kycProvider: KycProvider): Record<string, string> => ({
  KYC_PROVIDER: kycProvider,
  KYC_PROVIDERS_FORMER: kycProviders.filter((name) => name !== kycProvider).join(),
});

/** Settings for the vendor accounts that the sandbox simulates. */
const vendorSettings = (sandboxUrl: string) => ({
  KYC_DIDIT_URL: `${sandboxUrl}/didit`,
  KYC_DIDIT_API_KEY: "sandbox",
  KYC_DIDIT_ENVIRONMENT: "sandbox",
  KYC_DIDIT_WORKFLOW_ID: "11111111-1111-4111-8111-111111111111",
  KYC_DIDIT_WORKFLOW_ID_STILL: "22222222-2222-4222-8222-222222222222",
  KYC_DIDIT_WEBHOOK_SECRETS: kycCallbackSecret,
  KYC_DIDIT_DESTINATION_ID: "destination",
  KYC_SUMSUB_URL: `${sandboxUrl}/sumsub`,
  KYC_SUMSUB_APP_TOKEN: "sbx:sandbox",
  KYC_SUMSUB_SECRET_KEY: "sandbox",
  KYC_SUMSUB_SANDBOX: "true",
  KYC_SUMSUB_LEVEL: "amana",
  KYC_SUMSUB_LEVEL_ID_CARD: "amana id card",
  KYC_SUMSUB_LEVEL_PASSPORT: "amana passport",
  KYC_SUMSUB_LEVEL_STILL: "amana still",
  // The sandbox permits more AML requests per minute than the 10 that Sumsub documents.
  KYC_SUMSUB_AML_PER_MINUTE: "6000",
  KYC_SUMSUB_WEBHOOK_SECRETS: kycCallbackSecret,
  KYC_SUMSUB_WEBHOOK_ID: "webhook",
});

/** Returns all settings of a service. */
export function settingsOf(name: ServiceName, wiring: SettingsInput): Record<string, string> {
  const { secrets, ports } = wiring;
  const databaseUrl = wiring.databaseUrls[name];
  return {
    HOST: "127.0.0.1",
    ...(databaseUrl !== undefined && {
      RPC_PORT: String(ports[name]),
      GATEWAY_PUBLIC_KEYS: secrets.gatewayKey.publicKey,
      DATABASE_URL: databaseUrl,
      ...eventSettings(wiring, name),
    }),
    ...ownSettings[name](wiring),
  };
}
