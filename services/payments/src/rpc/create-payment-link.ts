import { randomBytes } from "node:crypto";
import { PaymentLinkSchema } from "@amana/contracts/payments/v1/payment_link_pb";
import type { PaymentLinkService } from "@amana/contracts/payments/v1/payment_link_service_pb";
import { databaseTime } from "@amana/database";
import { once } from "@amana/idempotency";
import { type Implementation, requireBusiness } from "@amana/rpc";
import { dateOf, uuidv7 } from "@amana/runtime";
import type { Context } from "../context.ts";
import { customerFieldRulesOf } from "../payment-link/customer-fields.ts";
import { describePaymentLink } from "../payment-link/payment-link.message.ts";
import { checkExpiry, checkPrice, PaymentLink } from "../payment-link/payment-link.ts";

/** Size of a token: 128 bits, so that the URL of a link cannot be guessed. */
const tokenBytes = 16;

export const createPaymentLink =
  (context: Context): Implementation<typeof PaymentLinkService.method.createPaymentLink> =>
  async (request, call) => {
    const businessId = requireBusiness(call.caller);
    return await once(context.orm, call, PaymentLinkSchema, async (em, claimedAt) => {
      checkPrice(request);
      const now = claimedAt ?? (await databaseTime(em));
      const expiresAt = dateOf(request.expiresAtMs);
      checkExpiry(expiresAt, now);
      const link = em.create(PaymentLink, {
        id: uuidv7(now.getTime()),
        businessId,
        token: randomBytes(tokenBytes).toString("base64url"),
        name: request.name,
        description: request.description,
        amountMinor: request.amountMinor,
        amountMinMinor: request.amountMinMinor,
        amountMaxMinor: request.amountMaxMinor,
        currency: "DZD",
        language: request.language,
        orderRef: request.orderRef,
        ...{ nameRule: "HIDDEN", emailRule: "HIDDEN", phoneRule: "HIDDEN", ...customerFieldRulesOf(request.customerFields) },
        successUrl: request.successUrl,
        failUrl: request.failUrl,
        conditionsUrl: request.conditionsUrl,
        maxPayments: request.maxPayments,
        expiresAt,
        metadata: request.metadata ?? "{}",
        isActive: true,
        paymentsPaid: 0,
        amountPaidMinor: 0n,
        amountRefundedMinor: 0n,
        createdAt: now,
        updatedAt: now,
      });
      em.persist(link);
      return describePaymentLink(context, link, now);
    });
  };
