import { createPdfRenderer } from "@amana/receipts/pdf";
import { FairSemaphore } from "@amana/runtime";
import type { ServiceParts } from "@amana/service-host";
import type { CardProcessor } from "./card-processor/card-processor.ts";
import { createSatim } from "./card-processor/satim.ts";
import type { Config } from "./config.ts";
import { createMailer } from "./receipt/mailer.ts";

export type Context = Readonly<ReturnType<typeof createContext>>;

/** Dependencies of the use cases of this service. */
export const createContext = ({ config, orm, logger, use }: ServiceParts<Config>) => ({
  orm,
  logger,
  processor: use(createSatim(config.satim)) as CardProcessor,
  /** Undefined if the deployment sends no e-mail. */
  mailer: config.mail && use(createMailer(config.mail)),
  pdfRenderer: use(createPdfRenderer()),
  /**
   * Slots at the renderer. The renderer works on one receipt at a time. With two slots, it has the
   * next receipt ready if two businesses wait. A business has one slot, so many receipts of one
   * business delay another business by at most one receipt.
   */
  pdfSlots: new FairSemaphore({ slots: 2, perTenant: 1 }),
  schedule: config.schedule,
  /** Public URL of the gateway, to which card holders' browsers return. */
  publicUrl: config.publicUrl,
  /** Template of the form URL of an order; `{mdOrder}` is replaced by the order's id. */
  formUrlTemplate: config.satim.formUrlTemplate,
});
