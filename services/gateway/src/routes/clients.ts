import { ClientJson, clientKycStatuses, genders, kycLevels, renderClient, riskLevels } from "@amana/public-api";
import type { FastifyRequest } from "fastify";
import { Type } from "typebox";
import { omittable } from "../form/field.ts";
import { choice, country, date, email, flag, integer, nameText, phone, search } from "../form/fields.ts";
import type { App, Gateway } from "../gateway.ts";
import { change, create, list, read } from "../operations.ts";

type Client = Parameters<typeof renderClient>[0];

const client = {
  tags: ["Clients"],
  answer: ClientJson,
  render: (one: Client, { organizationId }: FastifyRequest) => renderClient(one, organizationId),
};
const words = () => nameText({});
const organizationIdMax = 2_147_483_647;

/** Fields without which a client can be. */
const optional = () => ({
  state_province: words(),
  second_email: email(),
  mobile_phone_number: phone(),
  second_mobile_phone_number: phone(),
  planned_income: words(),
  planned_expenditure: words(),
  external_client_code: nameText({ description: "Yours for the client." }),
  kyc_note: words(),
  blacklisted_comment: words(),
});

/** Marks and levels that businesses set and change. */
const judgement = () => ({ blocked: flag(), is_blacklisted: flag(), risk_level: choice(riskLevels) });

export async function clients(app: App, { rpc: { clients: rpc } }: Gateway): Promise<void> {
  create(app, "/person", {
    ...client,
    rpc: rpc.createPerson,
    summary: "Create a client who is a person",
    description:
      "Of age today, in UTC. The e-mail address is unique among your clients, whatever its case. What makes the person " +
      "(names, date of birth, gender, nationality, KYC level) cannot be changed later.",
    body: {
      first_name: nameText({ examples: ["Amina"] }),
      middle_name: Type.Optional(words()),
      last_name: nameText({ examples: ["Benali"] }),
      date_of_birth: date({ examples: ["1990-05-17"] }),
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
      ...omittable(judgement()),
      ...omittable(optional()),
    },
  });

  list(app, "", {
    ...client,
    rpc: rpc.listClients,
    summary: "List clients, newest first",
    filters: {
      organization_id: integer(0, organizationIdMax, { description: "Clients of another one are none." }),
      kyc_status: choice(clientKycStatuses),
      risk_level: choice(riskLevels),
      is_blacklisted: flag(),
      blocked: flag(),
      search: search({
        description: "Any part of the names, the e-mail address or the external client code, in any case.",
      }),
      email: email(),
      external_client_code: words(),
    },
    ask: async ({ organization_id, ...filters }, { send, request }) => {
      const isOwn = organization_id === undefined || organization_id === request.organizationId;
      return isOwn ? await send(filters) : { clients: [], total: 0, totalIsCapped: false };
    },
  });

  const one = { ...client, rpc: rpc.getClient, summary: "Read a client" };
  read(app, "/:id", one);
  read(app, "/person/:id", { ...one, operationId: "getPerson" });

  change(app, "PUT", "/person/:id", {
    ...client,
    rpc: rpc.updatePerson,
    summary: "Change a client's contact details, address, risk and marks",
    description:
      "A field that is left out stays; null clears an optional one. What makes the person cannot be changed. A blocked " +
      "client gets nothing new; what exists stays.",
    body: {
      address: words(),
      city: words(),
      postcode: words(),
      country_code: country(),
      email: email(),
      ...judgement(),
      ...optional(),
    },
  });
}
