import { OnboardingDecision } from "@amana/contracts/clients/v1/onboarding_service_pb";
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
import { Type } from "typebox";
import { callOf } from "../call.ts";
import { bodyOf } from "../form/body.ts";
import { namedAndCleared } from "../form/cleared.ts";
import { clearable } from "../form/field.ts";
import { choice, countryNumber, distinct, flag, nameText, text } from "../form/fields.ts";
import type { App, Gateway } from "../gateway.ts";
import { problems } from "../problems.ts";
import { kycLinkOf } from "./kyc-link.ts";
import { PathId, pathId } from "./path-id.ts";

const tags = ["Onboarding"];
const otherNames = { account_purposes_input: "account_purposes" };

const purposes = () =>
  distinct(choice(accountPurposes), `must be a list, not empty, of different purposes among ${accountPurposes.join(", ")}`, {
    minItems: 1,
    description: "The same under both names.",
  });
const when = (field: string) => nameText({ description: `Needed when ${field} is OTHER.` });
const taxNumber = () => nameText({});

/** What is known of the body once its form is checked. */
interface Answers {
  account_purposes?: (typeof accountPurposes)[number][] | undefined;
  expected_monthly_incoming_volume?: string | undefined;
  expected_monthly_outgoing_volume?: string | undefined;
  is_us_person?: boolean | undefined;
  occupation?: string | undefined;
  occupation_sector?: string | undefined;
  source_of_funds?: string | undefined;
  funds_origin_country_id?: number | null | undefined;
  other_occupation?: string | null | undefined;
  other_source_of_funds?: string | null | undefined;
  tax_identification_number?: string | null | undefined;
}

function answersOf(body: Answers) {
  const { named, cleared } = namedAndCleared({ ...body });
  return {
    accountPurposes: named.account_purposes,
    expectedMonthlyIncomingVolume: named.expected_monthly_incoming_volume,
    expectedMonthlyOutgoingVolume: named.expected_monthly_outgoing_volume,
    isUsPerson: named.is_us_person,
    occupation: named.occupation,
    occupationSector: named.occupation_sector,
    sourceOfFunds: named.source_of_funds,
    fundsOriginCountryId: named.funds_origin_country_id,
    otherOccupation: named.other_occupation,
    otherSourceOfFunds: named.other_source_of_funds,
    taxIdentificationNumber: named.tax_identification_number,
    cleared,
  };
}

/** What is missing because of what is known, one entry for each field. */
function listMissing(error: unknown): never {
  if (!(error instanceof DomainError) || error.code !== "onboarding_details_incomplete") throw error;
  const missing = (error.members["missing"] ?? "").split(",");
  throw problems.validationFailed(
    missing.map((name) => ({
      pointer: `/${name}`,
      code: "required",
      message: name.startsWith("other_") ? "is required with OTHER" : "is required",
    })),
  );
}

export const onboarding =
  (gateway: Gateway) =>
  async (app: App): Promise<void> => {
    const { rpc } = gateway;

    app.post(
      "/details",
      {
        schema: {
          tags,
          operationId: "createOnboardingDetails",
          summary: "Create a client's onboarding details",
          description: "Once for each client; they are changed with PATCH.",
          params: PathId,
          body: bodyOf(
            {
              account_purposes: purposes(),
              account_purposes_input: Type.Optional(purposes()),
              expected_monthly_incoming_volume: choice(monthlyVolumes),
              expected_monthly_outgoing_volume: choice(monthlyVolumes),
              is_us_person: flag(),
              occupation: choice(occupations),
              other_occupation: Type.Optional(when("occupation")),
              occupation_sector: choice(occupationSectors),
              source_of_funds: choice(sourcesOfFunds),
              other_source_of_funds: Type.Optional(when("source_of_funds")),
              funds_origin_country_id: Type.Optional(countryNumber()),
              tax_identification_number: Type.Optional(taxNumber()),
            },
            { otherNames },
          ),
          response: { 201: OnboardingDetailsJson },
        },
      },
      async (request, reply) => {
        const clientId = pathId(request.params);
        const details = await rpc.onboarding
          .createOnboardingDetails({ clientId, answers: answersOf(request.body) }, callOf(request, reply))
          .catch(listMissing);
        const link = await kycLinkOf(gateway, details, request, reply);
        reply.code(201).header("location", `/api/v1/clients/${clientId}/onboarding/details`);
        return renderOnboardingDetails(details, link);
      },
    );

    app.get(
      "/details",
      {
        schema: {
          tags,
          operationId: "getOnboardingDetails",
          summary: "Read a client's onboarding details",
          params: PathId,
          response: { 200: OnboardingDetailsJson },
        },
      },
      async (request, reply) => {
        const clientId = pathId(request.params);
        const details = await rpc.onboarding.getOnboardingDetails({ clientId }, callOf(request, reply));
        return renderOnboardingDetails(details, await kycLinkOf(gateway, details, request, reply));
      },
    );

    app.patch(
      "/details",
      {
        schema: {
          tags,
          operationId: "updateOnboardingDetails",
          summary: "Change a client's onboarding details before verification begins",
          description:
            "A field that is left out stays; null clears an optional one. Creates the details when there are none yet and all " +
            "that is required is there. Once the applicant has opened the verification link, details are locked.",
          params: PathId,
          body: bodyOf(
            {
              account_purposes: Type.Optional(purposes()),
              account_purposes_input: Type.Optional(purposes()),
              expected_monthly_incoming_volume: Type.Optional(choice(monthlyVolumes)),
              expected_monthly_outgoing_volume: Type.Optional(choice(monthlyVolumes)),
              is_us_person: Type.Optional(flag()),
              occupation: Type.Optional(choice(occupations)),
              other_occupation: Type.Optional(clearable(when("occupation"))),
              occupation_sector: Type.Optional(choice(occupationSectors)),
              source_of_funds: Type.Optional(choice(sourcesOfFunds)),
              other_source_of_funds: Type.Optional(clearable(when("source_of_funds"))),
              funds_origin_country_id: Type.Optional(clearable(countryNumber())),
              tax_identification_number: Type.Optional(clearable(taxNumber())),
            },
            { otherNames, immutable: ["id", "client_id", "kyc_application_id", "kyc_link", "created_at", "updated_at"] },
          ),
          response: { 200: OnboardingDetailsJson },
        },
      },
      async (request, reply) => {
        const clientId = pathId(request.params);
        const details = await rpc.onboarding
          .updateOnboardingDetails({ clientId, answers: answersOf(request.body) }, callOf(request, reply))
          .catch(listMissing);
        return renderOnboardingDetails(details, await kycLinkOf(gateway, details, request, reply));
      },
    );

    app.get(
      "/status",
      {
        schema: {
          tags,
          operationId: "getOnboardingStatus",
          summary: "Read how far a client's onboarding is",
          params: PathId,
          response: { 200: OnboardingStatusJson },
        },
      },
      async (request, reply) => {
        const clientId = pathId(request.params);
        const status = await rpc.onboarding.getOnboarding({ clientId }, callOf(request, reply));
        return renderOnboardingStatus(status, await kycLinkOf(gateway, status, request, reply));
      },
    );
  };

/** An operator's last word on a verified client. */
const decisions = [
  ["approve", "APPROVED", "Ends in APPROVED, for good."],
  ["decline", "DECLINED", "Ends in KYC_DECLINED, until a newer KYC application of the client."],
] as const;

export const onboardingDecisions =
  ({ rpc }: Gateway) =>
  async (app: App): Promise<void> => {
    for (const [verb, decision, description] of decisions) {
      app.post(
        `/${verb}`,
        {
          schema: {
            tags,
            operationId: `${verb}Onboarding`,
            summary: `${verb === "approve" ? "Approve" : "Decline"} a client whose onboarding is at PENDING_APPROVAL`,
            description,
            params: PathId,
            body: bodyOf(
              { reason: Type.Optional(text(1_000, { description: "Why; kept in the audit trail." })) },
              { optional: true },
            ),
            response: { 200: OnboardingStatusJson },
          },
        },
        async (request, reply) => {
          const clientId = pathId(request.params);
          const { reason } = request.body;
          const status = await rpc.onboarding.decideOnboarding(
            { clientId, decision: OnboardingDecision[decision], reason },
            callOf(request, reply),
          );
          return renderOnboardingStatus(status, undefined);
        },
      );
    }
  };
