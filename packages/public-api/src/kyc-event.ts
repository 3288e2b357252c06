import { enumName } from "@amana/contracts/enum-names";
import { KycApplicationSchema } from "@amana/contracts/kyc/v1/kyc_application_pb";
import { type KycEvent, KycEventType } from "@amana/contracts/kyc/v1/kyc_events_pb";
import { Type } from "typebox";
import { BareEventJson } from "./bare-event.ts";
import { renderKycReasons } from "./kyc-application.ts";
import { kycVerdicts } from "./names.ts";
import { createRenderer, withMember } from "./renderer.ts";

export const KycEventJson = Type.Object({
  ...BareEventJson.properties,
  event: Type.String({ examples: ["KYC_COMPLETED"] }),
  application_id: Type.String({ format: "uuid" }),
  client_id: Type.Optional(Type.String({ format: "uuid" })),
  external_id: Type.Optional(Type.String()),
  metadata: Type.Object(
    {},
    { additionalProperties: true, description: "Your own data, unchanged, including the order of keys." },
  ),
  status: Type.String({ examples: ["COMPLETED"] }),
  verdict: Type.Optional(Type.Enum(kycVerdicts)),
  reason_codes: Type.Array(Type.Object({ code: Type.String(), message: Type.Optional(Type.String()) })),
  document_expiry: Type.Optional(Type.String({ format: "date" })),
  aml_hit_count: Type.Integer(),
});

const renderHead = createRenderer(
  KycApplicationSchema,
  Type.Pick(KycEventJson, ["business_id", "application_id", "client_id", "external_id"]),
  { application_id: "id" },
);
const renderTail = createRenderer(
  KycApplicationSchema,
  Type.Pick(KycEventJson, ["status", "verdict", "reason_codes", "document_expiry", "aml_hit_count"]),
  { reason_codes: ({ reasonCodes }) => renderKycReasons(reasonCodes) },
);

/** Renders the body of a KYC webhook as JSON text. The text is stored and signed unchanged. */
export function renderKycEvent({ type, application }: KycEvent, id: string, occurredAt: string): string {
  if (!application) throw new TypeError("the KYC event has no application");
  const event = enumName(KycEventType, type) ?? "";
  const head = { id, event, occurred_at: occurredAt, ...renderHead(application) };
  const tail = JSON.stringify(renderTail(application));
  return `${withMember(head, "metadata", application.metadata).slice(0, -1)},${tail.slice(1)}`;
}
