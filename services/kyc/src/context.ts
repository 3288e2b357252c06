import { createCallerSigner } from "@amana/rpc";
import { createSecretBox } from "@amana/secret-box";
import type { ServiceParts } from "@amana/service-host";
import { type Clients, createClients } from "./clients/clients.ts";
import type { Config } from "./config.ts";
import { requireProvidersOfOpenApplications } from "./kyc-application/open-applications.ts";
import { createProviders, type Providers } from "./verification-provider/providers.ts";

export type Context = Readonly<Awaited<ReturnType<typeof createContext>>>;

/** Creates the context that the RPCs and jobs of this service share. */
export async function createContext({ config, orm, logger, tls, use }: ServiceParts<Config>) {
  const providers: Providers = use(createProviders(config.providers, logger));
  await requireProvidersOfOpenApplications(orm, providers, logger);
  return {
    orm,
    logger,
    providers,
    clients: use(createClients({ urls: config.clientsUrls, signer: createCallerSigner(config.callerKey), tls })) as Clients,
    /** Encrypts and decrypts the links in the database. */
    secrets: createSecretBox(config.secretEncryptionKeys),
    /**
     * Pauses between the checks of an application. A check reads the application at the provider.
     * The last pause repeats.
     */
    checkPausesSeconds: config.checkPausesSeconds,
  };
}
