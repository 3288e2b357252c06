import { BeneficiaryType } from "@amana/contracts/clients/v1/beneficiary_pb";
import type { BeneficiaryService, UpdateBeneficiaryRequest } from "@amana/contracts/clients/v1/beneficiary_service_pb";
import { enumName } from "@amana/contracts/enum-names";
import { transaction } from "@amana/database";
import { businessOf, type Implementation } from "@amana/rpc";
import { isUuid } from "@amana/runtime";
import { LockMode } from "@mikro-orm/postgresql";
import { beneficiaryNotFound } from "../beneficiary/beneficiary.errors.ts";
import { toBeneficiaryMessage } from "../beneficiary/beneficiary.message.ts";
import { Beneficiary, type BeneficiaryChanges } from "../beneficiary/beneficiary.ts";
import { namedFields } from "../changes.ts";
import type { Context } from "../context.ts";

export const updateBeneficiary =
  ({ orm, clock }: Context): Implementation<typeof BeneficiaryService.method.updateBeneficiary> =>
  async (request, { caller }) => {
    const businessId = businessOf(caller);
    if (!isUuid(request.id)) throw beneficiaryNotFound();
    return await transaction(orm, async (em) => {
      // The lock comes before the read, so that what others change at the same time stays changed.
      const lockMode = LockMode.PESSIMISTIC_WRITE;
      const beneficiary = await em.findOne(Beneficiary, { id: request.id, businessId }, { lockMode });
      if (!beneficiary) throw beneficiaryNotFound();
      beneficiary.change(changesOf(request), clock.now());
      return toBeneficiaryMessage(beneficiary);
    });
  };

const clearable = [
  "accountNumber",
  "iban",
  "bic",
  "swiftCode",
  "routingNumber",
  "bankName",
  "bankAddress",
  "address",
  "city",
  "postalCode",
  "countryCode",
] as const satisfies (keyof BeneficiaryChanges)[];

function changesOf(request: UpdateBeneficiaryRequest): BeneficiaryChanges {
  const { $typeName: _type, $unknown: _unknown, id: _id, type, cleared, ...fields } = request;
  return namedFields<BeneficiaryChanges>({ ...fields, type: enumName(BeneficiaryType, type) }, cleared, clearable);
}
