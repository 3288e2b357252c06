import { AccountSchema } from "@amana/contracts/clients/v1/account_pb";
import type { AccountService } from "@amana/contracts/clients/v1/account_service_pb";
import { once } from "@amana/idempotency";
import { businessOf, type Implementation } from "@amana/rpc";
import { toAccountMessage } from "../account/account.message.ts";
import { lockAccount } from "../account/lock-account.ts";
import { namedClientNotFound } from "../client/client.errors.ts";
import { holdClient } from "../client/lock-client.ts";
import type { Context } from "../context.ts";

export const activateAccount =
  ({ orm, clock }: Context): Implementation<typeof AccountService.method.activateAccount> =>
  async (request, call) => {
    const businessId = businessOf(call.caller);
    return await once(orm, call, AccountSchema, async (em) => {
      const account = await lockAccount(em, businessId, request.id);
      // Held, so that nobody blocks the client between this look and the activation.
      const client = await holdClient(em, account.clientId, businessId);
      if (!client) throw namedClientNotFound();
      account.activate(client, clock.now());
      return toAccountMessage(account);
    });
  };
