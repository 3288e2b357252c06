import type { Orm } from "@amana/database";
import type { Logger } from "@amana/runtime";
import type { SecretBox } from "@amana/secret-box";
import type { Clients } from "./clients/clients.ts";
import type { VerificationProvider } from "./verification-provider/verification-provider.ts";

/** What the use cases of this service work with. */
export interface Context {
  readonly orm: Orm;
  readonly provider: VerificationProvider;
  readonly clients: Clients;
  readonly logger: Logger;
  /** Keeps links unreadable at rest. */
  readonly secrets: SecretBox;
  /** With which the provider may sign its callbacks. */
  readonly callbackSecrets: readonly string[];
  /** Between two checks of an application nobody called back about; the last one repeats. */
  readonly checkPausesSeconds: readonly number[];
}
