import {
  BusinessForItself,
  BusinessForOperator,
  BusinessUpdate,
  OwnApiKey,
  OwnApiKeyCreation,
  OwnApiKeyRevocation,
  renderBusiness,
  renderOwnApiKey,
} from "@amana/public-api";
import { Type } from "typebox";
import { onlyInRotation } from "../form/body.ts";
import { flag, integer, nameText, text } from "../form/fields.ts";
import { keyLimits } from "../form/key-limits.ts";
import type { App, Gateway } from "../gateway.ts";
import { canonicalCidr } from "../key-lease/allowed-ips.ts";
import { act, change, create, list, read } from "../operations.ts";

/** A rotation waits until it holds on all gateways. */
const changeTimeoutMs = 15_000;
const previousKeyTtlSecondsMax = 7 * 24 * 60 * 60;

const business = { tags: ["Own business"], render: renderBusiness };

export async function ownBusiness(app: App, { rpc: { businesses: rpc } }: Gateway): Promise<void> {
  read(app, "", {
    ...business,
    rpc: rpc.getOwnBusiness,
    summary: "Read your own business",
    description: "`api_key_prefix` is of the newest live key, whichever the call is made with: see `last_used_at` of the keys.",
    answer: BusinessForItself,
  });

  change(app, "PATCH", "", {
    ...business,
    rpc: rpc.updateOwnBusiness,
    timeoutMs: changeTimeoutMs,
    summary: "Rename your business, rotate the key you call with",
    description:
      "`rotate_api_key` replaces the key you call with, and ends that one at once: `previous_key_ttl_seconds`, which goes with it " +
      "only, is 0 unless you say for how long the old key is to work on. The new key is in the answer alone, so a lost answer locks " +
      "you out when you have no other key, and a repetition is refused with 401 `api_key_revoked`; an operator then issues a key. " +
      "Better change keys in two steps that can both be repeated: issue one with `POST /api/v1/me/api-keys`, and when your servers " +
      "use it, revoke the old one with `POST /api/v1/me/api-keys/{id}/revoke`. A rotation keeps name, `expires_at` and `allowed_ips`.",
    body: {
      name: nameText(),
      rotate_api_key: flag(),
      previous_key_ttl_seconds: integer(0, previousKeyTtlSecondsMax),
    },
    answer: BusinessUpdate,
    whole: BusinessForOperator,
    ask: async (fields, { send }) => {
      onlyInRotation(fields, "previous_key_ttl_seconds", "rotate_api_key");
      return await send(fields);
    },
  });

  list(app, "/api-keys", {
    ...business,
    rpc: rpc.listOwnApiKeys,
    summary: "List your keys, newest first",
    answer: OwnApiKey,
    render: renderOwnApiKey,
  });

  create(app, "/api-keys", {
    ...business,
    rpc: rpc.createOwnApiKey,
    summary: "Issue one more key",
    description:
      "The answer carries the plaintext `api_key`, once. The first of two steps by which keys are changed without a gap: use the " +
      "new key everywhere, then revoke the old one. When the answer was lost, issue another under another name and revoke this one. " +
      "A key with an end or networks issues none that goes beyond them: 422 `api_key_limits_exceeded`.",
    body: { name: nameText({ examples: ["checkout 2027"] }), ...keyLimits() },
    answer: OwnApiKeyCreation,
    render: renderOwnApiKey,
    // A key has no address of its own to read it at; this one lists it.
    location: () => "/api/v1/me/api-keys",
    ask: ({ allowed_ips, ...fields }, { send }) => send({ ...fields, allowed_ips: allowed_ips?.map(canonicalCidr) }),
  });

  act(app, "/api-keys/:id/revoke", {
    ...business,
    rpc: rpc.revokeOwnApiKey,
    timeoutMs: changeTimeoutMs,
    summary: "Revoke one of your keys",
    description:
      "Any but the one you call with (409 `api_key_in_use`). Holds everywhere from the moment of the answer. Revoking again changes nothing.",
    body: { reason: Type.Optional(text(500)) },
    answer: OwnApiKeyRevocation,
    render: renderOwnApiKey,
  });
}
