import { OnboardingAnswersSchema } from "@amana/contracts/clients/v1/onboarding_service_pb";
import {
  accountPurposes,
  monthlyVolumes,
  OnboardingDetailsJson,
  OnboardingStatusJson,
  occupationSectors,
  occupations,
  renderOnboardingDetails,
  renderOnboardingStatus,
  sourcesOfFunds,
} from "@amana/public-api";
import { DomainError } from "@amana/rpc";
import type { FastifyReply, FastifyRequest } from "fastify";
import { Type } from "typebox";
import { optionalFields } from "../form/field.ts";
import { choice, countryNumber, distinct, flag, nameText, text } from "../form/fields.ts";
import type { App, Gateway } from "../gateway.ts";
import { addActionRoute, addChangeRoute, addCreateRoute, addReadRoute } from "../operations.ts";
import { validationFailed } from "../problem.ts";
import { toRpcRequest } from "../rpc-request.ts";
import { kycLinkOf } from "./kyc-link.ts";

type Details = Parameters<typeof renderOnboardingDetails>[0];
type Status = Parameters<typeof renderOnboardingStatus>[0];

const aliases = { account_purposes_input: "account_purposes" };

const purposes = () =>
  distinct(choice(accountPurposes), `must be a list of one or more different values of ${accountPurposes.join(", ")}`, {
    minItems: 1,
    description: "Purposes of the account. `account_purposes_input` is an alias of `account_purposes`.",
  });
const otherDescription = (field: string) => nameText({ description: `Description; required when ${field} is OTHER.` });

const requiredDetails = () => ({
  expected_monthly_incoming_volume: choice(monthlyVolumes),
  expected_monthly_outgoing_volume: choice(monthlyVolumes),
  is_us_person: flag("Whether the client is a US person for tax purposes."),
  occupation: choice(occupations),
  occupation_sector: choice(occupationSectors),
  source_of_funds: choice(sourcesOfFunds),
});
const optionalDetails = () => ({
  other_occupation: otherDescription("occupation"),
  other_source_of_funds: otherDescription("source_of_funds"),
  funds_origin_country_id: countryNumber(),
  tax_identification_number: nameText({}),
});

/** Throws a Problem with one error for each field that the clients service reports as missing. */
function throwMissing(error: unknown): never {
  if (!(error instanceof DomainError) || error.code !== "onboarding_details_incomplete") throw error;
  const missing = (error.members["missing"] ?? "").split(",");
  throw validationFailed(
    missing.map((name) => ({
      pointer: `/${name}`,
      code: "required",
      message: name.startsWith("other_") ? `is required when ${name.slice("other_".length)} is OTHER` : "is required",
    })),
  );
}

export async function onboarding(app: App, gateway: Gateway): Promise<void> {
  const rpc = gateway.rpc.onboarding;
  const details = {
    tag: "Onboarding",
    response: OnboardingDetailsJson,
    render: async (message: Details, request: FastifyRequest, reply: FastifyReply) =>
      renderOnboardingDetails(message, await kycLinkOf(gateway, message, request, reply)),
  } as const;
  const toRequest = ({ id, ...answers }: { id: string }) => ({
    client_id: id,
    answers: toRpcRequest(OnboardingAnswersSchema, answers),
  });

  addCreateRoute(app, "/details", {
    ...details,
    rpc: rpc.createOnboardingDetails,
    summary: "Create onboarding details",
    description:
      "Creates the onboarding details of a client. A client has one set of details; a second request fails with 409 " +
      "`onboarding_details_exist`. Change existing details with PATCH.",
    body: {
      account_purposes: purposes(),
      account_purposes_input: Type.Optional(purposes()),
      ...requiredDetails(),
      ...optionalFields(optionalDetails()),
    },
    aliases,
    location: (_created, { url }) => url.split("?", 1)[0] ?? url,
    execute: (fields, { send }) => send(toRequest(fields)).catch(throwMissing),
  });

  addReadRoute(app, "/details", {
    ...details,
    rpc: rpc.getOnboardingDetails,
    summary: "Get onboarding details",
    description: "Returns the onboarding details of a client, with the link of its open KYC application.",
    rpcNames: { id: "client_id" },
  });

  addChangeRoute(app, "PATCH", "/details", {
    ...details,
    rpc: rpc.updateOnboardingDetails,
    summary: "Update onboarding details",
    description:
      "Changes the fields in the request. Absent fields stay unchanged; null clears an optional field. Creates the details " +
      "when the client has none and the request has all required fields. Fails with 409 `onboarding_locked` after the " +
      "applicant has opened the verification link.",
    body: { account_purposes: purposes(), account_purposes_input: purposes(), ...requiredDetails(), ...optionalDetails() },
    aliases,
    resource: Type.Object({ ...OnboardingStatusJson.properties, ...OnboardingDetailsJson.properties }),
    execute: (fields, { send }) => send(toRequest(fields)).catch(throwMissing),
  });

  addReadRoute(app, "/status", {
    tag: "Onboarding",
    rpc: rpc.getOnboarding,
    operationId: "getOnboardingStatus",
    summary: "Get the onboarding status",
    description: "Returns the current step of a client's onboarding, with the link of its open KYC application.",
    response: OnboardingStatusJson,
    render: async (status: Status, request, reply) =>
      renderOnboardingStatus(status, await kycLinkOf(gateway, status, request, reply)),
    rpcNames: { id: "client_id" },
  });
}

/** Decisions of an operator about a verified client. */
const decisions = [
  [
    "approve",
    "APPROVED",
    "Approve an onboarding",
    "Approves the onboarding of a client at the step PENDING_APPROVAL. The step APPROVED is final. Fails with 409 at another step.",
  ],
  [
    "decline",
    "DECLINED",
    "Decline an onboarding",
    "Declines the onboarding of a client at the step PENDING_APPROVAL. The client stays at the step KYC_DECLINED until its " +
      "next KYC application. Fails with 409 at another step.",
  ],
] as const;

export async function onboardingDecisions(app: App, { rpc: { onboarding: rpc } }: Gateway): Promise<void> {
  for (const [verb, decision, summary, description] of decisions) {
    addActionRoute(app, `/${verb}`, {
      tag: "Operators",
      rpc: rpc.decideOnboarding,
      operationId: `${verb}Onboarding`,
      summary,
      description,
      body: { reason: Type.Optional(text(1_000, { description: "Reason, stored in the audit trail." })) },
      response: OnboardingStatusJson,
      render: (status) => renderOnboardingStatus(status, undefined),
      execute: ({ id: client_id, reason }, { send }) => send({ client_id, reason, decision }),
    });
  }
}
