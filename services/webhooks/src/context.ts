import type { Orm } from "@amana/database";
import type { Logger } from "@amana/runtime";
import type { SecretBox } from "@amana/secret-box";
import type { Dispatcher } from "./delivery/dispatcher.ts";
import type { AddressGuard } from "./webhook-endpoint/address-guard.ts";

/** What the use cases of this service work with. */
export interface Context {
  readonly orm: Orm;
  readonly logger: Logger;
  readonly clock: { now(): Date };
  readonly secrets: SecretBox;
  readonly addresses: AddressGuard;
  readonly delivery: DeliveryOptions;
  readonly dispatcher: Dispatcher;
}

export interface DeliveryOptions {
  /** Waits between attempts; there is one attempt more. */
  readonly pausesMs: readonly number[];
  /** For one attempt, from connecting to the headers of the answer. */
  readonly timeoutMs: number;
  /** How long attempts may go on when the process stops. */
  readonly stopMs: number;
}
