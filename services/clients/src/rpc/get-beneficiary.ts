import type { BeneficiaryService } from "@amana/contracts/clients/v1/beneficiary_service_pb";
import { businessOf, type Implementation } from "@amana/rpc";
import { isUuid } from "@amana/runtime";
import { beneficiaryNotFound } from "../beneficiary/beneficiary.errors.ts";
import { toBeneficiaryMessage } from "../beneficiary/beneficiary.message.ts";
import { readBeneficiary } from "../beneficiary/queries.ts";
import type { Context } from "../context.ts";

export const getBeneficiary =
  ({ orm }: Context): Implementation<typeof BeneficiaryService.method.getBeneficiary> =>
  async (request, { caller }) => {
    const businessId = businessOf(caller);
    if (!isUuid(request.id)) throw beneficiaryNotFound();
    const beneficiary = await readBeneficiary(orm.em, businessId, request.id);
    if (!beneficiary) throw beneficiaryNotFound();
    return toBeneficiaryMessage(beneficiary);
  };
