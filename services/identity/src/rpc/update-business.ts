import { enumName } from "@amana/contracts/enum-names";
import { BusinessStatus } from "@amana/contracts/identity/v1/business_pb";
import type { BusinessService } from "@amana/contracts/identity/v1/business_service_pb";
import { transaction } from "@amana/database";
import { adminOf, type Implementation } from "@amana/rpc";
import { takeKeyRing } from "../api-key/key-ring.ts";
import { rotateKey } from "../api-key/rotate-key.ts";
import { toBusinessMessage } from "../business/business.message.ts";
import { lockBusiness } from "../business/business.ts";
import { recordUpdate } from "../business/record-update.ts";
import type { Context } from "../context.ts";

export const updateBusiness =
  ({ orm, clock, keyMode, leases }: Context): Implementation<typeof BusinessService.method.updateBusiness> =>
  async (request, call) => {
    adminOf(call.caller);
    const status = enumName(BusinessStatus, request.status);

    const { answer, isCutOff } = await transaction(orm, async (em) => {
      const business = await lockBusiness(em, request.id);
      const keyRing = await takeKeyRing(em, business, keyMode);
      const now = clock.now();

      recordUpdate(em, business, call, now, () => {
        if (request.name !== undefined) business.rename(request.name, now);
        if (status) business.moveTo(status, now);
      });
      const old = keyRing.newest;
      const issued = request.rotateApiKey ? rotateKey(em, { business, keyRing, old, now, call }) : undefined;

      return {
        answer: toBusinessMessage(business, { apiKeyPrefix: keyRing.newest?.prefix, apiKey: issued?.plaintext }),
        isCutOff: (issued && old) || status === "DISABLED",
      };
    });

    if (isCutOff) await leases.ended();
    return answer;
  };
