import { ClientJson, clientKycStatuses, genders, kycLevels, renderClient, riskLevels } from "@amana/public-api";
import type { FastifyRequest } from "fastify";
import { Type } from "typebox";
import { optionalFields } from "../form/field.ts";
import { choice, country, date, email, flag, integer, nameText, phone, search } from "../form/fields.ts";
import type { App, Gateway } from "../gateway.ts";
import { addChangeRoute, addCreateRoute, addListRoute, addReadRoute } from "../operations.ts";

type Client = Parameters<typeof renderClient>[0];

const client = {
  tag: "Clients",
  response: ClientJson,
  render: (message: Client, request: FastifyRequest) => renderClient(message, organizationIdOf(request)),
} as const;
const organizationIdOf = ({ resolvedKey }: FastifyRequest) => resolvedKey?.organizationId ?? 0;
const freeText = () => nameText({});
const organizationIdMax = 2_147_483_647;

const externalClientCode = () => nameText({ description: "Your own identifier of the client." });

const optionalDetails = () => ({
  state_province: freeText(),
  second_email: email(),
  mobile_phone_number: phone(),
  second_mobile_phone_number: phone(),
  planned_income: freeText(),
  planned_expenditure: freeText(),
  external_client_code: externalClientCode(),
  kyc_note: freeText(),
  blacklisted_comment: freeText(),
});

const riskFields = () => ({
  blocked: flag("Whether the client is blocked. A blocked client gets no new account, beneficiary or KYC application."),
  is_blacklisted: flag("Whether the client is on your blacklist. The flag has no effect of its own."),
  risk_level: choice(riskLevels),
});

export async function clients(app: App, { rpc: { clients: rpc } }: Gateway): Promise<void> {
  addCreateRoute(app, "/person", {
    ...client,
    rpc: rpc.createPerson,
    summary: "Create a client",
    description:
      "Creates a client who is a natural person of at least 18 years today (UTC). The e-mail address must be unique among " +
      "your clients, ignoring case; otherwise the request fails with 409 `email_taken`. Names, date and country of birth, " +
      "gender, nationality, country of tax residence and KYC level cannot be changed later.",
    body: {
      first_name: nameText({ description: "First name as in the identity document.", examples: ["Amina"] }),
      middle_name: Type.Optional(freeText()),
      last_name: nameText({ description: "Last name as in the identity document.", examples: ["Benali"] }),
      date_of_birth: date({ description: "Date of birth.", examples: ["1990-05-17"] }),
      gender: choice(genders),
      birth_country: country(),
      nationality: country(),
      country_of_tax_residence: country(),
      address: nameText({ examples: ["12 rue Didouche Mourad"] }),
      city: nameText({ examples: ["Alger"] }),
      postcode: nameText({ examples: ["16000"] }),
      country_code: country(),
      email: email(),
      kyc_level: Type.Optional(choice(kycLevels)),
      ...optionalFields(riskFields()),
      ...optionalFields(optionalDetails()),
    },
  });

  addListRoute(app, "", {
    ...client,
    rpc: rpc.listClients,
    summary: "List clients",
    description: "Returns the clients of your business that match all filters, newest first.",
    filters: {
      organization_id: integer(0, organizationIdMax, {
        description: "Organization id of your business. With another id the list is empty.",
      }),
      kyc_status: choice(clientKycStatuses),
      risk_level: choice(riskLevels),
      is_blacklisted: flag(),
      blocked: flag(),
      search: search({
        description: "Part of the names, the e-mail address or external_client_code. Case is ignored.",
      }),
      email: email(),
      external_client_code: externalClientCode(),
    },
    execute: async ({ organization_id, ...filters }, { send, request }) => {
      const isOwn = organization_id === undefined || organization_id === organizationIdOf(request);
      return isOwn ? await send(filters) : { clients: [], total: 0, totalIsCapped: false };
    },
  });

  const getClient = { ...client, rpc: rpc.getClient };
  addReadRoute(app, "/:id", {
    ...getClient,
    summary: "Get a client",
    description: "Returns a client with its KYC status and risk fields.",
  });
  addReadRoute(app, "/person/:id", {
    ...getClient,
    operationId: "getPerson",
    summary: "Get a person",
    description: "Returns the same client as `GET /clients/{id}`.",
  });

  addChangeRoute(app, "PUT", "/person/:id", {
    ...client,
    rpc: rpc.updatePerson,
    summary: "Update a client",
    description:
      "Changes the fields in the request. Absent fields stay unchanged; null clears an optional field. Fails with 422 " +
      "`immutable_field` for names, date of birth and the other fields that identify the person. Existing accounts and " +
      "beneficiaries of a blocked client stay unchanged.",
    body: {
      address: freeText(),
      city: freeText(),
      postcode: freeText(),
      country_code: country(),
      email: email(),
      ...riskFields(),
      ...optionalDetails(),
    },
  });
}
