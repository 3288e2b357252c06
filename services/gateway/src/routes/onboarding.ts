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
import { omittable } from "../form/field.ts";
import { choice, countryNumber, distinct, flag, nameText, text } from "../form/fields.ts";
import type { App, Gateway } from "../gateway.ts";
import { act, change, create, read } from "../operations.ts";
import { validationFailed } from "../problem.ts";
import { requestOf } from "../rpc-request.ts";
import { kycLinkOf } from "./kyc-link.ts";

type Details = Parameters<typeof renderOnboardingDetails>[0];
type Status = Parameters<typeof renderOnboardingStatus>[0];

const tags = ["Onboarding"];
const otherNames = { account_purposes_input: "account_purposes" };

const purposes = () =>
  distinct(choice(accountPurposes), `must be a list, not empty, of different purposes among ${accountPurposes.join(", ")}`, {
    minItems: 1,
    description: "The same under both names.",
  });
const when = (field: string) => nameText({ description: `Needed when ${field} is OTHER.` });

/** What a client answers. */
const means = () => ({
  expected_monthly_incoming_volume: choice(monthlyVolumes),
  expected_monthly_outgoing_volume: choice(monthlyVolumes),
  is_us_person: flag(),
  occupation: choice(occupations),
  occupation_sector: choice(occupationSectors),
  source_of_funds: choice(sourcesOfFunds),
});
const optional = () => ({
  other_occupation: when("occupation"),
  other_source_of_funds: when("source_of_funds"),
  funds_origin_country_id: countryNumber(),
  tax_identification_number: nameText({}),
});

/** What is missing because of what is known, one entry for each field. */
function listMissing(error: unknown): never {
  if (!(error instanceof DomainError) || error.code !== "onboarding_details_incomplete") throw error;
  const missing = (error.members["missing"] ?? "").split(",");
  throw validationFailed(
    missing.map((name) => ({
      pointer: `/${name}`,
      code: "required",
      message: name.startsWith("other_") ? "is required with OTHER" : "is required",
    })),
  );
}

export async function onboarding(app: App, gateway: Gateway): Promise<void> {
  const rpc = gateway.rpc.onboarding;
  const details = {
    tags,
    answer: OnboardingDetailsJson,
    render: async (one: Details, request: FastifyRequest, reply: FastifyReply) =>
      renderOnboardingDetails(one, await kycLinkOf(gateway, one, request, reply)),
  };
  const answersOf = ({ id, ...answers }: { id: string }) => ({
    client_id: id,
    answers: requestOf(OnboardingAnswersSchema, answers),
  });

  create(app, "/details", {
    ...details,
    rpc: rpc.createOnboardingDetails,
    summary: "Create a client's onboarding details",
    description: "Once for each client; they are changed with PATCH.",
    body: {
      account_purposes: purposes(),
      account_purposes_input: Type.Optional(purposes()),
      ...means(),
      ...omittable(optional()),
    },
    otherNames,
    location: (_made, { url }) => url.split("?", 1)[0] ?? url,
    ask: (fields, { send }) => send(answersOf(fields)).catch(listMissing),
  });

  read(app, "/details", {
    ...details,
    rpc: rpc.getOnboardingDetails,
    summary: "Read a client's onboarding details",
    rpcNames: { id: "client_id" },
  });

  change(app, "PATCH", "/details", {
    ...details,
    rpc: rpc.updateOnboardingDetails,
    summary: "Change a client's onboarding details before verification begins",
    description:
      "A field that is left out stays; null clears an optional one. Creates the details when there are none yet and all " +
      "that is required is there. Once the applicant has opened the verification link, details are locked.",
    body: { account_purposes: purposes(), account_purposes_input: purposes(), ...means(), ...optional() },
    otherNames,
    whole: Type.Object({ ...OnboardingStatusJson.properties, ...OnboardingDetailsJson.properties }),
    ask: (fields, { send }) => send(answersOf(fields)).catch(listMissing),
  });

  read(app, "/status", {
    tags,
    rpc: rpc.getOnboarding,
    operationId: "getOnboardingStatus",
    summary: "Read how far a client's onboarding is",
    answer: OnboardingStatusJson,
    render: async (status: Status, request, reply) =>
      renderOnboardingStatus(status, await kycLinkOf(gateway, status, request, reply)),
    rpcNames: { id: "client_id" },
  });
}

/** An operator's last word on a verified client. */
const decisions = [
  ["approve", "APPROVED", "Approve", "Ends in APPROVED, for good."],
  ["decline", "DECLINED", "Decline", "Ends in KYC_DECLINED, until a newer KYC application of the client."],
] as const;

export async function onboardingDecisions(app: App, { rpc: { onboarding: rpc } }: Gateway): Promise<void> {
  for (const [verb, decision, word, description] of decisions) {
    act(app, `/${verb}`, {
      tags,
      rpc: rpc.decideOnboarding,
      operationId: `${verb}Onboarding`,
      summary: `${word} a client whose onboarding is at PENDING_APPROVAL`,
      description,
      body: { reason: Type.Optional(text(1_000, { description: "Why; kept in the audit trail." })) },
      answer: OnboardingStatusJson,
      render: (status) => renderOnboardingStatus(status, undefined),
      ask: ({ id: client_id, reason }, { send }) => send({ client_id, reason, decision }),
    });
  }
}
