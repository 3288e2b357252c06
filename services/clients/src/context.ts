import type { ServiceParts } from "@amana/service-host";
import type { Config } from "./config.ts";

export type Context = Readonly<ReturnType<typeof createContext>>;

export const createContext = ({ config, orm, logger, clock }: ServiceParts<Config>) => ({
  orm,
  logger,
  clock,
  /** True if the platform approves verified clients without a decision of an operator. */
  autoApprove: config.autoApprove,
  institution: config.institution,
  /** Currencies in which accounts can be opened (ISO 4217 codes). */
  currencies: config.currencies,
});
