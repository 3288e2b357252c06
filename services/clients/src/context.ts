import type { ServiceParts } from "@amana/service-host";
import type { Config } from "./config.ts";

export type Context = Readonly<ReturnType<typeof createContext>>;

/** Creates the context that the RPCs and topic handlers of this service share. */
export const createContext = ({ config, orm, logger, clock }: ServiceParts<Config>) => ({
  orm,
  logger,
  clock,
  /** True if the platform approves verified clients without a decision of an operator. */
  autoApprove: config.autoApprove,
  /** Bank code and branch code of new account numbers. */
  institution: config.institution,
  /** Currencies in which accounts can be opened (ISO 4217 codes). */
  currencies: config.currencies,
});
