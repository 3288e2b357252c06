import { ClientSchema, KycLevel, RiskLevel } from "@amana/contracts/clients/v1/client_pb";
import type { ClientService } from "@amana/contracts/clients/v1/client_service_pb";
import { refuseDuplicates } from "@amana/database";
import { once } from "@amana/idempotency";
import { type Implementation, requestedName, requireBusiness } from "@amana/rpc";
import { uuidv7 } from "@amana/runtime";
import { isAdult } from "../client/adult.ts";
import { clientUnderage, emailTaken } from "../client/client.errors.ts";
import { toClientMessage } from "../client/client.message.ts";
import { Client } from "../client/client.ts";
import type { Context } from "../context.ts";
import { Onboarding } from "../onboarding/onboarding.ts";

export const createPerson =
  ({ orm, clock }: Context): Implementation<typeof ClientService.method.createPerson> =>
  async (request, call) => {
    const businessId = requireBusiness(call.caller);
    return await once(orm, call, ClientSchema, async (em) => {
      const now = clock.now();
      if (!isAdult(request.dateOfBirth, now)) throw clientUnderage();
      const { $typeName: _type, $unknown: _unknown, ...person } = request;
      const id = uuidv7(now.getTime());
      // Creates the onboarding before the client, because the ORM inserts entities in the reverse
      // order of their creation.
      em.persist(
        em.create(Onboarding, {
          id: uuidv7(now.getTime()),
          businessId,
          clientId: id,
          hasDetails: false,
          step: "DETAILS_PENDING",
          kycStatus: "NOT_STARTED",
          createdAt: now,
          updatedAt: now,
        }),
      );
      const client = em.create(Client, {
        ...person,
        id,
        businessId,
        kycLevel: requestedName(KycLevel, request.kycLevel) ?? "FULL_KYC",
        riskLevel: requestedName(RiskLevel, request.riskLevel) ?? "LOW",
        kycStatus: "NOT_STARTED",
        blocked: request.blocked ?? false,
        isBlacklisted: request.isBlacklisted ?? false,
        createdAt: now,
        updatedAt: now,
      });
      em.persist(client);
      refuseDuplicates(em, "client_business_email", emailTaken);
      return toClientMessage(client);
    });
  };
