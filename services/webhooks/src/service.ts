import { EventService } from "@amana/contracts/webhooks/v1/event_service_pb";
import { WebhookEndpointService } from "@amana/contracts/webhooks/v1/webhook_endpoint_service_pb";
import { serveFrom } from "@amana/rpc";
import { startHourlyJobs } from "@amana/runtime";
import type { Service } from "@amana/service-host";
import { type Config, readConfig } from "./config.ts";
import { createKycHandler } from "./consumers/kyc.ts";
import { createPaymentsHandler } from "./consumers/payments.ts";
import { type Context, createContext } from "./context.ts";
import { startDelivering } from "./delivery/delivery-worker.ts";
import { deleteOldDeliveries } from "./jobs/delete-old-deliveries.ts";
import { deleteOldReplays } from "./jobs/delete-old-replays.ts";
import { runReplays } from "./jobs/run-replays.ts";
import { showDeliveries } from "./metrics.ts";
import { database } from "./orm.ts";
import * as rpcs from "./rpc/index.ts";
import { deleteOldHealth } from "./webhook-endpoint/endpoint-health.ts";

export const webhooks: Service<Config, Context> = {
  name: "webhooks",
  database,
  readConfig,
  createContext,
  rpcServices: (context) => [serveFrom(WebhookEndpointService, rpcs, context), serveFrom(EventService, rpcs, context)],
  topicHandlers: (context) => [createPaymentsHandler(context), createKycHandler(context)],
  jobs: (context) => [
    startDelivering(context),
    runReplays(context),
    showDeliveries(context.orm),
    ...startHourlyJobs(context, { deleteOldDeliveries, deleteOldHealth, deleteOldReplays }),
  ],
};
