import { IdempotencyRecord } from "@amana/idempotency";
import { migrations } from "../migrations/index.ts";
import { AdminKey } from "./admin-key/admin-key.ts";
import { ApiKey } from "./api-key/api-key.ts";
import { AuditEvent } from "./audit/audit-event.ts";
import { Business } from "./business/business.ts";

export const database = { entities: [Business, ApiKey, AdminKey, AuditEvent, IdempotencyRecord], migrations };
