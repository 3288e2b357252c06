import type { ServiceParts } from "@amana/service-host";
import type { Config } from "./config.ts";

export type Context = Readonly<ReturnType<typeof createContext>>;

/** What the use cases of this service work with. */
export const createContext = ({ config, orm, logger, clock }: ServiceParts<Config>) => ({
  orm,
  logger,
  clock,
  /** Verified clients need no operator. */
  autoApprove: config.autoApprove,
  /** Whose account numbers accounts get. */
  institution: config.institution,
  /** What accounts can be held in, ISO 4217. */
  currencies: config.currencies,
});
