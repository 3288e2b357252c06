import { BusinessOnboarding, renderBusiness } from "@amana/public-api";
import type { FastifyRequest } from "fastify";
import { callOf } from "../call.ts";
import { email, nameText } from "../form/fields.ts";
import type { App, Gateway } from "../gateway.ts";
import { presentedKeyHash } from "../key-lease/presented-key.ts";
import { create } from "../operations.ts";
import { slowGuessing } from "../plugins/authenticate.ts";
import { takeIdempotencyKey } from "../plugins/idempotency-key.ts";
import { limitKeyless } from "../plugins/limit-rate.ts";
import { Problem } from "../problem.ts";

/** Where a business registers itself, with an invitation in the place of a key. */
export async function selfOnboarding(app: App, gateway: Gateway): Promise<void> {
  const { rpc } = gateway;
  const slowedDown = slowGuessing(gateway);
  app.addHook("onRequest", limitKeyless(gateway));
  app.addHook("onRequest", async (request, reply) => {
    try {
      const { isGood } = await rpc.invitations.resolveInvitation({ tokenHash: tokenHashOf(request) }, callOf(request, reply));
      if (!isGood) throw Problem.of("invalid_invitation");
    } catch (error) {
      throw slowedDown(error, request.ip);
    }
  });
  app.addHook("preHandler", takeIdempotencyKey(gateway));

  create(app, "", {
    tags: ["Invitations"],
    rpc: rpc.invitations.onboardBusiness,
    summary: "Register your business, with an invitation",
    description:
      "`Authorization: Bearer <invitation_token>`. The business is PENDING: its `api_key`, which this answer carries once, is refused " +
      "with 401 `business_pending` until an operator has approved it. An invitation registers one business. When the answer was lost, an " +
      "operator issues another key.",
    security: [{ bearer: [] }],
    body: { name: nameText(), contact_email: email() },
    answer: BusinessOnboarding,
    render: renderBusiness,
    location: () => "/api/v1/me",
    ask: async (fields, { send, request }) => await send({ ...fields, token_hash: tokenHashOf(request) }),
  });
}

function tokenHashOf({ raw }: FastifyRequest): Uint8Array {
  try {
    return Buffer.from(presentedKeyHash(raw, ["inv_"]), "base64");
  } catch {
    throw Problem.of("invalid_invitation");
  }
}
