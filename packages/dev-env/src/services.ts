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

export type ServiceName = "identity" | "payments" | "webhooks" | "gateway" | "sandbox";

export interface ServiceDescription {
  readonly name: ServiceName;
  /** Owns a database and brings migrations. */
  readonly hasDatabase: boolean;
  readonly env: (wiring: Wiring) => Record<string, string>;
}

export const loopbackUrl = (port: number): string => `http://127.0.0.1:${port}`;

const satimCredentials = { SATIM_USERNAME: "sandbox", SATIM_PASSWORD: "sandbox" };

function rpcService({ secrets, databaseUrls, ports }: Wiring, name: ServiceName): Record<string, string> {
  return {
    HOST: "127.0.0.1",
    RPC_PORT: String(ports[name]),
    RPC_SECRET: secrets.rpcSecret,
    DATABASE_URL: databaseUrls[name] ?? "",
  };
}

function events({ brokers, ports }: Wiring): Record<string, string> {
  if (brokers) return { KAFKA_BROKERS: brokers };
  return { DIRECT_SUBSCRIBERS: `payments.v1=${loopbackUrl(ports.webhooks)}` };
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
    }),
  },
  {
    name: "identity",
    hasDatabase: true,
    env: (wiring) => ({ ...rpcService(wiring, "identity"), KEY_MODE: "test", BOOTSTRAP_ADMIN_KEY: wiring.secrets.adminKey }),
  },
  {
    name: "webhooks",
    hasDatabase: true,
    env: (wiring) => ({
      ...rpcService(wiring, "webhooks"),
      ...events(wiring),
      SECRET_ENCRYPTION_KEYS: `dev:${wiring.secrets.encryptionKey}`,
      ALLOW_INSECURE_WEBHOOKS: "true",
    }),
  },
  {
    name: "payments",
    hasDatabase: true,
    env: (wiring) => ({
      ...rpcService(wiring, "payments"),
      ...events(wiring),
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
      RPC_SECRET: secrets.rpcSecret,
      IDENTITY_URLS: loopbackUrl(ports.identity),
      PAYMENTS_URLS: loopbackUrl(ports.payments),
      WEBHOOKS_URLS: loopbackUrl(ports.webhooks),
      ALLOW_INSECURE_URLS: "true",
    }),
  },
];
