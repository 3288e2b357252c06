import type { BeneficiaryService } from "@amana/contracts/clients/v1/beneficiary_service_pb";
import { businessOf, type Implementation } from "@amana/rpc";
import { toBeneficiaryMessage } from "../beneficiary/beneficiary.message.ts";
import { beneficiaryList } from "../beneficiary/queries.ts";
import { checkNamedClient } from "../client/check-named-client.ts";
import type { Context } from "../context.ts";

export const listBeneficiaries =
  ({ orm }: Context): Implementation<typeof BeneficiaryService.method.listBeneficiaries> =>
  async (request, { caller }) => {
    const businessId = businessOf(caller);
    await checkNamedClient(orm.em, businessId, request.clientId);
    const { rows, ...total } = await beneficiaryList.page(orm.em, businessId, request);
    return { beneficiaries: rows.map((row) => toBeneficiaryMessage(row)), ...total };
  };
