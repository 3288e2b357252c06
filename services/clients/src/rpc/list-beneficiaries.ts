import { BeneficiaryType } from "@amana/contracts/clients/v1/beneficiary_pb";
import type { BeneficiaryService } from "@amana/contracts/clients/v1/beneficiary_service_pb";
import { businessOf, enumName, type Implementation } from "@amana/rpc";
import { toBeneficiaryMessage } from "../beneficiary/beneficiary.message.ts";
import { readBeneficiaries } from "../beneficiary/queries.ts";
import { checkNamedClient } from "../client/check-named-client.ts";
import type { Context } from "../context.ts";

export const listBeneficiaries =
  ({ orm }: Context): Implementation<typeof BeneficiaryService.method.listBeneficiaries> =>
  async (request, { caller }) => {
    const businessId = businessOf(caller);
    await checkNamedClient(orm.em, businessId, request.clientId);
    const filter = {
      clientId: request.clientId,
      type: enumName(BeneficiaryType, request.type),
      countryCode: request.countryCode,
      display: request.display,
      search: request.search,
    };
    const { rows, ...total } = await readBeneficiaries(orm.em, businessId, filter, request);
    return { beneficiaries: rows.map(toBeneficiaryMessage), ...total };
  };
