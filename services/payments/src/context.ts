import type { ServiceParts } from "@amana/service-host";
import type { CardProcessor } from "./card-processor/card-processor.ts";
import { createSatim } from "./card-processor/satim.ts";
import type { Config } from "./config.ts";

export type Context = Readonly<ReturnType<typeof createContext>>;

/** What the use cases of this service work with. */
export const createContext = ({ config, orm, logger, use }: ServiceParts<Config>) => ({
  orm,
  logger,
  processor: use(createSatim(config.satim)) as CardProcessor,
  schedule: config.schedule,
  /** The gateway's public address: card holders come back to it. */
  publicUrl: config.publicUrl,
  /** The address of an order's form, {mdOrder} standing for the order's id. */
  formUrlTemplate: config.satim.formUrlTemplate,
});
