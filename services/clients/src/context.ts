import type { ServiceParts } from "@amana/service-host";
import type { Config } from "./config.ts";

export type Context = Readonly<ReturnType<typeof createContext>>;

/** Dependencies of the RPCs and consumers of this service. */
export const createContext = ({ config, orm, logger, clock }: ServiceParts<Config>) => ({
  orm,
  logger,
  clock,
  /** Whether verified clients are approved without an operator. */
  autoApprove: config.autoApprove,
  /** Bank and branch in the account numbers. */
  institution: config.institution,
  /** Currencies of accounts, ISO 4217. */
  currencies: config.currencies,
});
