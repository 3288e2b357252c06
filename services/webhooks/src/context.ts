import type { Orm } from "@amana/database";
import type { Logger } from "@amana/runtime";
import type { SecretBox } from "@amana/secret-box";
import type { AddressGuard } from "./webhook-endpoint/address-guard.ts";

/** What the use cases of this service work with. */
export interface Context {
  readonly orm: Orm;
  readonly logger: Logger;
  readonly clock: { now(): Date };
  readonly secrets: SecretBox;
  readonly addresses: AddressGuard;
  /** Told when a delivery may have become due. */
  readonly deliveries: { wake(): void };
}
