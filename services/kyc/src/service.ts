import { KycApplicationService } from "@amana/contracts/kyc/v1/kyc_application_service_pb";
import { serveFrom } from "@amana/rpc";
import { startHourlyJobs } from "@amana/runtime";
import type { Service } from "@amana/service-host";
import { type Config, readConfig } from "./config.ts";
import { type Context, createContext } from "./context.ts";
import { catchUp } from "./jobs/catch-up.ts";
import { checkApplications } from "./jobs/check-applications.ts";
import { deleteProviderEvents } from "./jobs/delete-provider-events.ts";
import { notifyDocumentExpiry } from "./jobs/notify-document-expiry.ts";
import { probeProviders } from "./jobs/probe-providers.ts";
import { createReencryption } from "./jobs/reencrypt-links.ts";
import { removeLinks } from "./jobs/remove-links.ts";
import { showApplications } from "./metrics.ts";
import { database } from "./orm.ts";
import * as rpcs from "./rpc/index.ts";

/** Definition of the KYC service. */
export const kyc: Service<Config, Context> = {
  name: "kyc",
  database,
  readConfig,
  createContext,
  rpcServices: (context) => [serveFrom(KycApplicationService, rpcs, context)],
  jobs: (context, config) => [
    showApplications(context.orm),
    checkApplications(context),
    ...catchUp(context, config.catchUpSeconds),
    ...startHourlyJobs(context, {
      probeProviders,
      notifyDocumentExpiry,
      deleteProviderEvents,
      removeLinks,
      reencryptLinks: createReencryption(context),
    }),
  ],
};
