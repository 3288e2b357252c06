import { OperatorKeySchema } from "@amana/contracts/identity/v1/operator_key_pb";
import type { OperatorKeyService } from "@amana/contracts/identity/v1/operator_key_service_pb";
import { allBusinesses, lockRow } from "@amana/database";
import { once } from "@amana/idempotency";
import { type Implementation, requireAdmin } from "@amana/rpc";
import { lastOperatorKey, operatorKeyNotFound } from "../admin-key/admin-key.errors.ts";
import { toOperatorKeyMessage } from "../admin-key/admin-key.message.ts";
import { AdminKey, lockAdminKeys } from "../admin-key/admin-key.ts";
import { auditChange } from "../audit/audit-event.ts";
import type { Context } from "../context.ts";
import { logAccessRemoval } from "../key-lease/lease-wait.ts";

export const revokeOperatorKey =
  ({ orm, clock, leases, logger }: Context): Implementation<typeof OperatorKeyService.method.revokeOperatorKey> =>
  async ({ id, reason }, call) => {
    requireAdmin(call.caller);
    const message = await once(orm, call, OperatorKeySchema, async (em) => {
      await lockAdminKeys(em);
      const adminKey = await lockRow(em, AdminKey, allBusinesses, id, operatorKeyNotFound);
      if (!adminKey.revokedAt) {
        if ((await em.count(AdminKey, { revokedAt: null })) === 1) throw lastOperatorKey();
        const before = adminKey.snapshot();
        const now = clock.now();
        adminKey.revoke(now);
        auditChange(em, now, call, "admin_key.revoked", adminKey, { before, reason });
      }
      return toOperatorKeyMessage(adminKey);
    });

    logAccessRemoval(logger, { admin_key_id: message.id });
    await leases.waitUntilExpired();
    return message;
  };
