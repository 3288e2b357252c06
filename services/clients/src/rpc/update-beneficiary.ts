import { type BeneficiaryService, UpdateBeneficiaryRequestSchema } from "@amana/contracts/clients/v1/beneficiary_service_pb";
import { changesOf, lockRow, transaction } from "@amana/database";
import { type Implementation, requireBusiness } from "@amana/rpc";
import { beneficiaryNotFound } from "../beneficiary/beneficiary.errors.ts";
import { toBeneficiaryMessage } from "../beneficiary/beneficiary.message.ts";
import { Beneficiary } from "../beneficiary/beneficiary.ts";
import type { Context } from "../context.ts";

const readChanges = changesOf(Beneficiary, UpdateBeneficiaryRequestSchema);

export const updateBeneficiary =
  ({ orm, clock }: Context): Implementation<typeof BeneficiaryService.method.updateBeneficiary> =>
  async (request, { caller }) => {
    const businessId = requireBusiness(caller);
    return await transaction(orm, async (em) => {
      const beneficiary = await lockRow(em, Beneficiary, businessId, request.id, beneficiaryNotFound);
      beneficiary.change(readChanges(request), clock.now());
      return toBeneficiaryMessage(beneficiary);
    });
  };
