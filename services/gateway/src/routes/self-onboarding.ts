import { BusinessOnboarding, renderBusiness } from "@amana/public-api";
import type { FastifyRequest } from "fastify";
import { callOf } from "../call.ts";
import { email, nameText } from "../form/fields.ts";
import type { App, Gateway } from "../gateway.ts";
import { presentedKeyHash } from "../key-lease/presented-key.ts";
import { addCreateRoute } from "../operations.ts";
import { limitFailure } from "../plugins/authenticate.ts";
import { takeIdempotencyKey } from "../plugins/idempotency-key.ts";
import { limitKeyless } from "../plugins/limit-rate.ts";
import { Problem } from "../problem.ts";

/**
 * Adds the operation with which a business registers itself. The operation requires an invitation
 * instead of an API key.
 */
export async function selfOnboarding(app: App, gateway: Gateway): Promise<void> {
  const { rpc } = gateway;
  app.addHook("onRequest", limitKeyless(gateway));
  app.addHook("onRequest", async (request, reply) => {
    try {
      const { isGood } = await rpc.invitations.resolveInvitation({ tokenHash: tokenHashOf(request) }, callOf(request, reply));
      if (!isGood) throw Problem.of("invalid_invitation");
    } catch (error) {
      throw limitFailure(gateway, error, request.ip);
    }
  });
  app.addHook("preHandler", takeIdempotencyKey(gateway));

  addCreateRoute(app, "", {
    tag: "Business",
    rpc: rpc.invitations.onboardBusiness,
    summary: "Register your business",
    description:
      "Registers a business with an invitation: send `Authorization: Bearer <invitation_token>`. Only this response contains " +
      "the plaintext `api_key`. The business is PENDING, and its key is rejected with 401 `business_pending`, until an " +
      "operator approves it. An invitation registers one business. If the response is lost, an operator must issue another key.",
    security: [{ bearer: [] }],
    body: {
      name: nameText({ description: "Name of the business.", examples: ["Librairie El Kitab"] }),
      contact_email: email("E-mail address at which operators contact the business."),
    },
    response: BusinessOnboarding,
    render: renderBusiness,
    location: () => "/api/v1/me",
    execute: async (fields, { send, request }) => await send({ ...fields, token_hash: tokenHashOf(request) }),
  });
}

function tokenHashOf({ raw }: FastifyRequest): Uint8Array {
  try {
    return Buffer.from(presentedKeyHash(raw, ["inv_"]), "base64");
  } catch {
    throw Problem.of("invalid_invitation");
  }
}
