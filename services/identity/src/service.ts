import { ApiKeyService } from "@amana/contracts/identity/v1/api_key_service_pb";
import { AuditEventService } from "@amana/contracts/identity/v1/audit_event_service_pb";
import { BusinessService } from "@amana/contracts/identity/v1/business_service_pb";
import { InvitationService } from "@amana/contracts/identity/v1/invitation_service_pb";
import { KeyLeaseService } from "@amana/contracts/identity/v1/key_lease_service_pb";
import { OperatorKeyService } from "@amana/contracts/identity/v1/operator_key_service_pb";
import { RateLimitService } from "@amana/contracts/identity/v1/rate_limit_service_pb";
import { serveFrom } from "@amana/rpc";
import type { Service } from "@amana/service-host";
import { storeBootstrapKey } from "./admin-key/store-bootstrap-key.ts";
import { auditAction } from "./audit/audit-event.ts";
import { startSealing } from "./audit/seal-rows.ts";
import { type Config, readConfig } from "./config.ts";
import { audit } from "./consumers/audit.ts";
import { type Context, createContext } from "./context.ts";
import { showUnsealed } from "./metrics.ts";
import { database } from "./orm.ts";
import * as rpcs from "./rpc/index.ts";

export const identity: Service<Config, Context> = {
  name: "identity",
  database,
  readConfig,
  async createContext(parts) {
    const context = createContext(parts);
    await storeBootstrapKey(context, parts.config.bootstrapAdminKey);
    return context;
  },
  rpcServices: (context) => [
    serveFrom(BusinessService, rpcs, context),
    serveFrom(ApiKeyService, rpcs, context),
    serveFrom(OperatorKeyService, rpcs, context),
    serveFrom(InvitationService, rpcs, context),
    serveFrom(AuditEventService, rpcs, context),
    serveFrom(KeyLeaseService, rpcs, context),
    serveFrom(RateLimitService, rpcs, context),
  ],
  topicHandlers: () => [audit],
  jobs: (context) => [startSealing(context), showUnsealed(context.orm)],
  recordAction: auditAction,
};
