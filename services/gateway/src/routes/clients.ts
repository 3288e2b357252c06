import { ClientKycStatus, KycLevel } from "@amana/contracts/clients/v1/client_pb";
import { ClientJson, clientKycStatuses, genders, kycLevels, renderClient, riskLevelOf, riskLevels } from "@amana/public-api";
import { Type } from "typebox";
import { callOf } from "../call.ts";
import { bodyOf } from "../form/body.ts";
import { namedAndCleared } from "../form/cleared.ts";
import { changeable, omittable } from "../form/field.ts";
import { choice, country, date, email, flag, integer, nameText, phone, search } from "../form/fields.ts";
import { pageParameters } from "../form/query.ts";
import type { App, Gateway } from "../gateway.ts";
import { pageHeaders } from "../list.ts";
import { PathId, pathId } from "./path-id.ts";

const tags = ["Clients"];
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

/** The optional ones in the service's words. */
const optionalOf = (given: { [K in keyof ReturnType<typeof optional>]?: string | undefined }) => ({
  stateProvince: given.state_province,
  secondEmail: given.second_email,
  mobilePhoneNumber: given.mobile_phone_number,
  secondMobilePhoneNumber: given.second_mobile_phone_number,
  plannedIncome: given.planned_income,
  plannedExpenditure: given.planned_expenditure,
  externalClientCode: given.external_client_code,
  kycNote: given.kyc_note,
  blacklistedComment: given.blacklisted_comment,
});

/** Marks and levels that businesses set and change. */
const judgement = () => ({
  blocked: Type.Optional(flag()),
  is_blacklisted: Type.Optional(flag()),
  risk_level: Type.Optional(choice(riskLevels)),
});

export const clients =
  ({ rpc }: Gateway) =>
  async (app: App): Promise<void> => {
    app.post(
      "/person",
      {
        schema: {
          tags,
          operationId: "createPerson",
          summary: "Create a client who is a person",
          description:
            "Of age today, in UTC. The e-mail address is unique among your clients, whatever its case. What makes the person " +
            "(names, date of birth, gender, nationality, KYC level) cannot be changed later.",
          body: bodyOf({
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
            ...judgement(),
            ...omittable(optional()),
          }),
          response: { 201: ClientJson },
        },
      },
      async (request, reply) => {
        const { body } = request;
        const client = await rpc.clients.createPerson(
          {
            firstName: body.first_name,
            middleName: body.middle_name,
            lastName: body.last_name,
            dateOfBirth: body.date_of_birth,
            gender: body.gender,
            birthCountry: body.birth_country,
            nationality: body.nationality,
            countryOfTaxResidence: body.country_of_tax_residence,
            address: body.address,
            city: body.city,
            postcode: body.postcode,
            countryCode: body.country_code,
            email: body.email,
            kycLevel: body.kyc_level && KycLevel[body.kyc_level],
            blocked: body.blocked,
            isBlacklisted: body.is_blacklisted,
            riskLevel: body.risk_level && riskLevelOf(body.risk_level),
            ...optionalOf(body),
          },
          callOf(request, reply),
        );
        reply.code(201).header("location", `/api/v1/clients/${client.id}`);
        return renderClient(client, request.organizationId);
      },
    );

    app.get(
      "",
      {
        schema: {
          tags,
          operationId: "listClients",
          summary: "List clients, newest first",
          querystring: Type.Object({
            ...pageParameters(),
            organization_id: Type.Optional(integer(0, organizationIdMax, { description: "Clients of another one are none." })),
            kyc_status: Type.Optional(choice(clientKycStatuses)),
            risk_level: Type.Optional(choice(riskLevels)),
            is_blacklisted: Type.Optional(flag()),
            blocked: Type.Optional(flag()),
            search: Type.Optional(
              search({ description: "Any part of the names, the e-mail address or the external client code, in any case." }),
            ),
            email: Type.Optional(email()),
            external_client_code: Type.Optional(words()),
          }),
          response: { 200: Type.Array(ClientJson) },
        },
      },
      async (request, reply) => {
        const { query, organizationId } = request;
        if (query.organization_id !== undefined && query.organization_id !== organizationId) {
          pageHeaders(request, reply, query, { total: 0 });
          return [];
        }
        const page = await rpc.clients.listClients(
          {
            limit: query.limit,
            offset: query.offset,
            kycStatus: query.kyc_status && ClientKycStatus[query.kyc_status],
            riskLevel: query.risk_level && riskLevelOf(query.risk_level),
            isBlacklisted: query.is_blacklisted,
            blocked: query.blocked,
            search: query.search,
            email: query.email,
            externalClientCode: query.external_client_code,
          },
          callOf(request, reply),
        );
        pageHeaders(request, reply, query, { ...page, shown: page.clients.length });
        return page.clients.map((client) => renderClient(client, organizationId));
      },
    );

    for (const [path, operationId] of [
      ["/:id", "getClient"],
      ["/person/:id", "getPerson"],
    ] as const) {
      app.get(
        path,
        { schema: { tags, operationId, summary: "Read a client", params: PathId, response: { 200: ClientJson } } },
        async (request, reply) => {
          const client = await rpc.clients.getClient({ id: pathId(request.params) }, callOf(request, reply));
          return renderClient(client, request.organizationId);
        },
      );
    }

    app.put(
      "/person/:id",
      {
        schema: {
          tags,
          operationId: "updatePerson",
          summary: "Change a client's contact details, address, risk and marks",
          description:
            "A field that is left out stays; null clears an optional one. What makes the person cannot be changed. A blocked " +
            "client gets nothing new; what exists stays.",
          params: PathId,
          body: bodyOf(
            {
              address: Type.Optional(words()),
              city: Type.Optional(words()),
              postcode: Type.Optional(words()),
              country_code: Type.Optional(country()),
              email: Type.Optional(email()),
              ...judgement(),
              ...changeable(optional()),
            },
            {
              immutable: [
                "id",
                "organization_id",
                "first_name",
                "middle_name",
                "last_name",
                "date_of_birth",
                "gender",
                "birth_country",
                "nationality",
                "country_of_tax_residence",
                "kyc_level",
                "kyc_status",
                "created_at",
                "updated_at",
              ],
            },
          ),
          response: { 200: ClientJson },
        },
      },
      async (request, reply) => {
        const { named, cleared } = namedAndCleared(request.body);
        const client = await rpc.clients.updatePerson(
          {
            id: pathId(request.params),
            address: named.address,
            city: named.city,
            postcode: named.postcode,
            countryCode: named.country_code,
            email: named.email,
            blocked: named.blocked,
            isBlacklisted: named.is_blacklisted,
            riskLevel: named.risk_level && riskLevelOf(named.risk_level),
            ...optionalOf(named),
            cleared,
          },
          callOf(request, reply),
        );
        return renderClient(client, request.organizationId);
      },
    );
  };
