import type { ServiceDescription } from "@amana/service-host";

/**
 * The services with a database. Each description is loaded on demand, because all of them together
 * load slowly.
 */
export const serviceDescriptions: Readonly<Record<string, () => Promise<{ readonly repair: ServiceDescription }>>> = {
  clients: () => import("@amana/clients/repair"),
  identity: () => import("@amana/identity/repair"),
  kyc: () => import("@amana/kyc/repair"),
  payments: () => import("@amana/payments/repair"),
  webhooks: () => import("@amana/webhooks/repair"),
};

export const serviceNames = Object.keys(serviceDescriptions);
