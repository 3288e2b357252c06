import { BeneficiarySchema, BeneficiaryType } from "@amana/contracts/clients/v1/beneficiary_pb";
import type { BeneficiaryService } from "@amana/contracts/clients/v1/beneficiary_service_pb";
import { once } from "@amana/idempotency";
import { type Implementation, requestedName, requireBusiness } from "@amana/rpc";
import { uuidv7 } from "@amana/runtime";
import { toBeneficiaryMessage } from "../beneficiary/beneficiary.message.ts";
import { Beneficiary, checkPaymentDetails } from "../beneficiary/beneficiary.ts";
import { lockUnblockedClient } from "../client/lock-unblocked-client.ts";
import type { Context } from "../context.ts";

export const createBeneficiary =
  ({ orm, clock }: Context): Implementation<typeof BeneficiaryService.method.createBeneficiary> =>
  async (request, call) => {
    const businessId = requireBusiness(call.caller);
    return await once(orm, call, BeneficiarySchema, async (em) => {
      checkPaymentDetails(request);
      const clientId = await lockUnblockedClient(em, businessId, request.clientId);

      const now = clock.now();
      const { $typeName: _type, $unknown: _unknown, ...details } = request;
      const beneficiary = em.create(Beneficiary, {
        ...details,
        id: uuidv7(now.getTime()),
        businessId,
        clientId,
        type: requestedName(BeneficiaryType, request.type) ?? "PERSON",
        display: request.display ?? true,
        createdAt: now,
        updatedAt: now,
      });
      em.persist(beneficiary);
      return toBeneficiaryMessage(beneficiary);
    });
  };
