import type { Orm } from "@amana/database";
import type { Logger } from "@amana/runtime";
import type { Institution } from "./account/account-number.ts";

/** What the use cases of this service work with. */
export interface Context {
  readonly orm: Orm;
  readonly logger: Logger;
  readonly clock: { now(): Date };
  /** Verified clients need no operator. */
  readonly autoApprove: boolean;
  /** Whose account numbers accounts get. */
  readonly institution: Institution;
  /** What accounts can be held in, ISO 4217. */
  readonly currencies: readonly string[];
}
