import { PaymentLinkStatus } from "@amana/contracts/payments/v1/payment_link_pb";
import {
  type PaymentLinkService,
  type UpdatePaymentLinkRequest,
  UpdatePaymentLinkRequestSchema,
} from "@amana/contracts/payments/v1/payment_link_service_pb";
import { changesOf, databaseTime, lockRow, transaction } from "@amana/database";
import { type Implementation, requestedName, requireBusiness } from "@amana/rpc";
import { dateOf } from "@amana/runtime";
import type { Context } from "../context.ts";
import { customerFieldRulesOf } from "../payment-link/customer-fields.ts";
import { fieldInvalid, paymentLinkNotFound } from "../payment-link/payment-link.errors.ts";
import { describePaymentLink } from "../payment-link/payment-link.message.ts";
import { PaymentLink, type PaymentLinkChanges } from "../payment-link/payment-link.ts";

const readSimpleChanges = changesOf(PaymentLink, UpdatePaymentLinkRequestSchema);

export const updatePaymentLink =
  (context: Context): Implementation<typeof PaymentLinkService.method.updatePaymentLink> =>
  async (request, { caller }) => {
    const businessId = requireBusiness(caller);
    return await transaction(context.orm, async (em) => {
      const link = await lockRow(em, PaymentLink, businessId, request.id, paymentLinkNotFound);
      const now = await databaseTime(em);
      link.change({ ...readSimpleChanges(request), ...readOtherChanges(request) }, now);
      return describePaymentLink(context, link, now);
    });
  };

/** Reads the changes of properties that have other names or other types in the request. */
function readOtherChanges({ customerFields, expiresAtMs, status, cleared }: UpdatePaymentLinkRequest): PaymentLinkChanges {
  const changes: PaymentLinkChanges = customerFieldRulesOf(customerFields);
  if (expiresAtMs !== undefined) changes.expiresAt = dateOf(expiresAtMs);
  if (cleared.includes("expires_at")) changes.expiresAt = null;
  const statusName = requestedName(PaymentLinkStatus, status);
  if (statusName === "ACTIVE" || statusName === "INACTIVE") changes.isActive = statusName === "ACTIVE";
  else if (statusName) throw fieldInvalid("/status", "status must be ACTIVE or INACTIVE.");
  return changes;
}
