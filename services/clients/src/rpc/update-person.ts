import { type ClientService, UpdatePersonRequestSchema } from "@amana/contracts/clients/v1/client_service_pb";
import { changesOf, lockRow, refuseDuplicates, transaction } from "@amana/database";
import { type Implementation, requireBusiness } from "@amana/rpc";
import { clientNotFound, emailTaken } from "../client/client.errors.ts";
import { toClientMessage } from "../client/client.message.ts";
import { Client } from "../client/client.ts";
import type { Context } from "../context.ts";

const readChanges = changesOf(Client, UpdatePersonRequestSchema);

export const updatePerson =
  ({ orm, clock }: Context): Implementation<typeof ClientService.method.updatePerson> =>
  async (request, { caller }) => {
    const businessId = requireBusiness(caller);
    return await transaction(orm, async (em) => {
      const client = await lockRow(em, Client, businessId, request.id, clientNotFound);
      client.change(readChanges(request), clock.now());
      refuseDuplicates(em, "client_business_email", emailTaken);
      return toClientMessage(client);
    });
  };
