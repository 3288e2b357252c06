import { createHmac } from "node:crypto";
import type { Secrets } from "./secrets.ts";

/** What a service's settings are made from. */
export interface Wiring {
  readonly secrets: Secrets;
  readonly databaseUrls: Readonly<Record<string, string>>;
  readonly ports: Readonly<Record<ServiceName, number>>;
  /** Undefined: events go straight to the consumers. */
  readonly brokers: string | undefined;
  readonly sandboxDir: string;
}

export type ServiceName = "identity" | "kyc" | "clients" | "payments" | "webhooks" | "gateway" | "sandbox";

export interface ServiceDescription {
  readonly name: ServiceName;
  /** Owns a database and brings migrations. */
  readonly hasDatabase: boolean;
  readonly env: (wiring: Wiring) => Record<string, string>;
}

export const loopbackUrl = (port: number): string => `http://127.0.0.1:${port}`;

const kycProvider = { KYC_PROVIDER_TOKEN: "sandbox" };
const kycCallbackSecret = "provider-callback-secret";
const satimCredentials = { SATIM_USERNAME: "sandbox", SATIM_PASSWORD: "sandbox" };

function rpcService({ secrets, databaseUrls, ports }: Wiring, name: ServiceName): Record<string, string> {
  return {
    HOST: "127.0.0.1",
    RPC_PORT: String(ports[name]),
    GATEWAY_PUBLIC_KEYS: secrets.gatewayKey.publicKey,
    DATABASE_URL: databaseUrls[name] ?? "",
  };
}

/** The topics that each service emits or consumes: it gets the keys of these and of no other. */
const topics: Partial<Record<ServiceName, readonly string[]>> = {
  identity: ["audit.v1"],
  webhooks: ["payments.v1", "kyc.v1", "audit.v1"],
  clients: ["kyc.v1", "audit.v1"],
  kyc: ["kyc.v1", "audit.v1"],
  payments: ["payments.v1", "audit.v1"],
};

function events({ brokers, ports, secrets }: Wiring, name: ServiceName): Record<string, string> {
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

/** Every process of the system, in the order in which they are stopped last to first. */
export const services: readonly ServiceDescription[] = [
  {
    name: "sandbox",
    hasDatabase: false,
    env: ({ ports, sandboxDir }) => ({
      HOST: "127.0.0.1",
      SANDBOX_PORT: String(ports.sandbox),
      SANDBOX_URL: loopbackUrl(ports.sandbox),
      SANDBOX_DATA_DIR: sandboxDir,
      ...satimCredentials,
      ...kycProvider,
      KYC_CALLBACK_SECRET: kycCallbackSecret,
    }),
  },
  {
    name: "identity",
    hasDatabase: true,
    env: (wiring) => ({
      ...rpcService(wiring, "identity"),
      ...events(wiring, "identity"),
      KEY_MODE: "test",
      BOOTSTRAP_ADMIN_KEY: wiring.secrets.adminKey,
    }),
  },
  {
    name: "webhooks",
    hasDatabase: true,
    env: (wiring) => ({
      ...rpcService(wiring, "webhooks"),
      ...events(wiring, "webhooks"),
      SECRET_ENCRYPTION_KEYS: `dev:${wiring.secrets.encryptionKey}`,
      ALLOW_INSECURE_WEBHOOKS: "true",
    }),
  },
  {
    name: "clients",
    hasDatabase: true,
    env: (wiring) => ({
      ...rpcService(wiring, "clients"),
      ...events(wiring, "clients"),
      KYC_PUBLIC_KEYS: wiring.secrets.kycKey.publicKey,
    }),
  },
  {
    name: "kyc",
    hasDatabase: true,
    env: (wiring) => ({
      ...rpcService(wiring, "kyc"),
      ...events(wiring, "kyc"),
      ...kycProvider,
      CALLER_PRIVATE_KEY: wiring.secrets.kycKey.privateKey,
      CLIENTS_URLS: loopbackUrl(wiring.ports.clients),
      KYC_PROVIDER_URL: loopbackUrl(wiring.ports.sandbox),
      KYC_CALLBACK_URL: `${loopbackUrl(wiring.ports.gateway)}/callbacks/kyc`,
      KYC_CALLBACK_SECRETS: kycCallbackSecret,
      SECRET_ENCRYPTION_KEYS: `dev:${wiring.secrets.encryptionKey}`,
    }),
  },
  {
    name: "payments",
    hasDatabase: true,
    env: (wiring) => ({
      ...rpcService(wiring, "payments"),
      ...events(wiring, "payments"),
      ...satimCredentials,
      PUBLIC_URL: loopbackUrl(wiring.ports.gateway),
      SATIM_URL: `${loopbackUrl(wiring.ports.sandbox)}/payment/rest`,
      SATIM_TERMINAL_ID: "E010101010",
      SATIM_FORM_URL_TEMPLATE: `${loopbackUrl(wiring.ports.sandbox)}/payment/pay/{mdOrder}`,
    }),
  },
  {
    name: "gateway",
    hasDatabase: false,
    env: ({ ports, secrets }) => ({
      HOST: "127.0.0.1",
      PORT: String(ports.gateway),
      CALLER_PRIVATE_KEY: secrets.gatewayKey.privateKey,
      FINGERPRINT_KEYS: secrets.fingerprintSecret,
      IDENTITY_URLS: loopbackUrl(ports.identity),
      KYC_URLS: loopbackUrl(ports.kyc),
      CLIENTS_URLS: loopbackUrl(ports.clients),
      PAYMENTS_URLS: loopbackUrl(ports.payments),
      WEBHOOKS_URLS: loopbackUrl(ports.webhooks),
      ALLOW_INSECURE_URLS: "true",
    }),
  },
];
