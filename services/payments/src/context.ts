import type { Orm } from "@amana/database";
import type { Logger } from "@amana/runtime";
import type { CardProcessor } from "./card-processor/card-processor.ts";
import type { Config } from "./config.ts";

/** What the use cases of this service work with. */
export interface Context {
  readonly orm: Orm;
  readonly processor: CardProcessor;
  readonly logger: Logger;
  readonly schedule: Config["schedule"];
  /** The gateway's public address: card holders come back to it. */
  readonly publicUrl: string;
  /** The address of an order's form, {mdOrder} standing for the order's id. */
  readonly formUrlTemplate: string;
}
