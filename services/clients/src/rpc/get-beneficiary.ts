import type { BeneficiaryService } from "@amana/contracts/clients/v1/beneficiary_service_pb";
import { businessOf, type Implementation } from "@amana/rpc";
import { beneficiaryNotFound } from "../beneficiary/beneficiary.errors.ts";
import { beneficiaryView, toBeneficiaryMessage } from "../beneficiary/beneficiary.message.ts";
import type { Context } from "../context.ts";

export const getBeneficiary =
  ({ orm }: Context): Implementation<typeof BeneficiaryService.method.getBeneficiary> =>
  async ({ id }, { caller }) => {
    const beneficiary = await beneficiaryView.read(orm.em, businessOf(caller), id);
    if (!beneficiary) throw beneficiaryNotFound();
    return toBeneficiaryMessage(beneficiary);
  };
