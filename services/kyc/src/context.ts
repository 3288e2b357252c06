import { createCallerSigner } from "@amana/rpc";
import { createSecretBox } from "@amana/secret-box";
import type { ServiceParts } from "@amana/service-host";
import { type Clients, createClients } from "./clients/clients.ts";
import type { Config } from "./config.ts";
import { createHttpProvider } from "./verification-provider/http-provider.ts";
import type { VerificationProvider } from "./verification-provider/verification-provider.ts";

export type Context = Readonly<ReturnType<typeof createContext>>;

/** Dependencies of the RPCs and jobs of this service. */
export const createContext = ({ config, orm, logger, tls, use }: ServiceParts<Config>) => ({
  orm,
  logger,
  provider: use(createHttpProvider(config.provider)) as VerificationProvider,
  clients: use(createClients({ urls: config.clientsUrls, signer: createCallerSigner(config.callerKey), tls })) as Clients,
  /** Encrypts the links in the database. */
  secrets: createSecretBox(config.secretEncryptionKeys),
  /** Secrets with which the provider may sign its callbacks. */
  callbackSecrets: config.callbackSecrets,
  /** Pauses between the checks of an application without a callback. The last one repeats. */
  checkPausesSeconds: config.checkPausesSeconds,
});
