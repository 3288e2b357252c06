import { RiskLevel } from "@amana/contracts/clients/v1/client_pb";
import type { ClientService, UpdatePersonRequest } from "@amana/contracts/clients/v1/client_service_pb";
import { enumName } from "@amana/contracts/enum-names";
import { transaction } from "@amana/database";
import { businessOf, type Implementation } from "@amana/rpc";
import { namedFields } from "../changes.ts";
import { clientNotFound } from "../client/client.errors.ts";
import { toClientMessage } from "../client/client.message.ts";
import type { ClientChanges } from "../client/client.ts";
import { lockClient } from "../client/lock-client.ts";
import { refusingTakenEmail } from "../client/taken-email.ts";
import type { Context } from "../context.ts";

export const updatePerson =
  ({ orm, clock }: Context): Implementation<typeof ClientService.method.updatePerson> =>
  async (request, { caller }) => {
    const businessId = businessOf(caller);
    return await transaction(orm, async (em) => {
      // The lock comes before the read, so that what others change at the same time stays changed.
      const client = await lockClient(em, request.id, businessId);
      if (!client) throw clientNotFound();
      client.change(changesOf(request), clock.now());
      await refusingTakenEmail(() => em.flush());
      return toClientMessage(client);
    });
  };

const clearable = [
  "stateProvince",
  "secondEmail",
  "mobilePhoneNumber",
  "secondMobilePhoneNumber",
  "plannedIncome",
  "plannedExpenditure",
  "externalClientCode",
  "kycNote",
  "blacklistedComment",
] as const satisfies (keyof ClientChanges)[];

function changesOf(request: UpdatePersonRequest): ClientChanges {
  const { $typeName: _type, $unknown: _unknown, id: _id, riskLevel, cleared, ...fields } = request;
  return namedFields<ClientChanges>({ ...fields, riskLevel: enumName(RiskLevel, riskLevel) }, cleared, clearable);
}
