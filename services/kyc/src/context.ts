import { createCallerSigner } from "@amana/rpc";
import { createSecretBox } from "@amana/secret-box";
import type { ServiceParts } from "@amana/service-host";
import { type Clients, createClients } from "./clients/clients.ts";
import type { Config } from "./config.ts";
import { requireProvidersOfOpenApplications } from "./kyc-application/open-applications.ts";
import { createProviders, type Providers } from "./verification-provider/providers.ts";

export type Context = Readonly<Awaited<ReturnType<typeof createContext>>>;

/** Dependencies of the RPCs and jobs of this service. */
export async function createContext({ config, orm, logger, tls, use }: ServiceParts<Config>) {
  const providers: Providers = use(createProviders(config.providers, logger));
  await requireProvidersOfOpenApplications(orm, providers, logger);
  return {
    orm,
    logger,
    providers,
    clients: use(createClients({ urls: config.clientsUrls, signer: createCallerSigner(config.callerKey), tls })) as Clients,
    /** Encrypts the links in the database. */
    secrets: createSecretBox(config.secretEncryptionKeys),
    /** Pauses between the checks of an application without a callback. The last pause repeats. */
    checkPausesSeconds: config.checkPausesSeconds,
  };
}
