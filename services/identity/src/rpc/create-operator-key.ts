import { generateApiKey, hashApiKey, prefixOf } from "@amana/api-keys";
import { OperatorKeySchema } from "@amana/contracts/identity/v1/operator_key_pb";
import type { OperatorKeyService } from "@amana/contracts/identity/v1/operator_key_service_pb";
import { once } from "@amana/idempotency";
import { type Implementation, requireAdmin } from "@amana/rpc";
import { uuidv7 } from "@amana/runtime";
import { operatorKeyNameReserved, operatorKeyNameTaken } from "../admin-key/admin-key.errors.ts";
import { toOperatorKeyMessage } from "../admin-key/admin-key.message.ts";
import { AdminKey, bootstrapName, lockAdminKeys } from "../admin-key/admin-key.ts";
import { auditChange } from "../audit/audit-event.ts";
import type { Context } from "../context.ts";

export const createOperatorKey =
  ({ orm, clock }: Context): Implementation<typeof OperatorKeyService.method.createOperatorKey> =>
  async ({ name }, call) => {
    requireAdmin(call.caller);
    if (name === bootstrapName) throw operatorKeyNameReserved(name);
    return await once(
      orm,
      call,
      OperatorKeySchema,
      async (em) => {
        await lockAdminKeys(em);
        if (await em.findOne(AdminKey, { name, revokedAt: null })) throw operatorKeyNameTaken(name);
        const plaintext = generateApiKey("ak_");
        const now = clock.now();
        const key = { id: uuidv7(), name, prefix: prefixOf(plaintext), hash: hashApiKey(plaintext), createdAt: now };
        const adminKey = em.create(AdminKey, key);
        em.persist(adminKey);
        auditChange(em, now, call, "admin_key.created", adminKey);
        return toOperatorKeyMessage(adminKey, plaintext);
      },
      ({ adminKey: _secret, ...message }) => message,
    );
  };
