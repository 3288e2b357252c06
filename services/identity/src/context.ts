import type { Orm } from "@amana/database";
import type { Logger } from "@amana/runtime";
import type { Config } from "./config.ts";
import type { GrantedLeases } from "./key-lease/granted-leases.ts";
import type { KeyUse } from "./key-lease/key-use.ts";

/** What the use cases of this service work with. */
export interface Context {
  readonly orm: Orm;
  readonly logger: Logger;
  readonly clock: { now(): Date };
  readonly keyMode: Config["keyMode"];
  readonly leases: GrantedLeases;
  readonly keyUse: KeyUse;
}
