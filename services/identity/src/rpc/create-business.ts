import { BusinessSchema, BusinessStatus } from "@amana/contracts/identity/v1/business_pb";
import type { BusinessService } from "@amana/contracts/identity/v1/business_service_pb";
import { once } from "@amana/idempotency";
import { type Implementation, requestedName, requireAdmin } from "@amana/rpc";
import { uuidv7 } from "@amana/runtime";
import { defaultKeyName, lockKeyRing } from "../api-key/key-ring.ts";
import { auditChange } from "../audit/audit-event.ts";
import { initialStatusInvalid } from "../business/business.errors.ts";
import { toBusinessMessage } from "../business/business.message.ts";
import { Business } from "../business/business.ts";
import type { Context } from "../context.ts";

export const createBusiness =
  ({ orm, clock, keyMode }: Context): Implementation<typeof BusinessService.method.createBusiness> =>
  async (request, call) => {
    requireAdmin(call.caller);
    const status = requestedName(BusinessStatus, request.status) ?? "ACTIVE";
    if (status !== "ACTIVE" && status !== "PENDING") throw initialStatusInvalid();

    return await once(
      orm,
      call,
      BusinessSchema,
      async (em) => {
        const now = clock.now();
        const business = em.create(Business, { id: uuidv7(), name: request.name, status, createdAt: now, updatedAt: now });
        // Inserts the business now, because the database assigns `organizationId` and the row of
        // the key references the business.
        await em.persist(business).flush();
        const keyRing = await lockKeyRing(em, business, keyMode);
        const { apiKey, plaintext } = keyRing.add(defaultKeyName, now);

        auditChange(em, now, call, "business.created", business);
        auditChange(em, now, call, "api_key.created", apiKey);
        return toBusinessMessage(business, { apiKeyPrefix: apiKey.prefix, apiKey: plaintext });
      },
      ({ apiKey: _secret, ...message }) => message,
    );
  };
