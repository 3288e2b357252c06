import { BeneficiaryType } from "@amana/contracts/clients/v1/beneficiary_pb";
import { BeneficiaryJson, beneficiaryTypes, renderBeneficiary } from "@amana/public-api";
import { Type } from "typebox";
import { callOf } from "../call.ts";
import { bankAccountNumber, bic, iban, routingNumber } from "../form/bank-details.ts";
import { bodyOf } from "../form/body.ts";
import { namedAndCleared } from "../form/cleared.ts";
import { erasable } from "../form/field.ts";
import { choice, country, flag, nameText, search, uuid } from "../form/fields.ts";
import { pageParameters } from "../form/query.ts";
import type { App, Gateway } from "../gateway.ts";
import { pageHeaders } from "../list.ts";
import { PathId, pathId } from "./path-id.ts";

const tags = ["Beneficiaries"];

/** Fields without which a beneficiary can be. */
const details = () => ({
  account_number: Type.Optional(erasable(bankAccountNumber())),
  iban: Type.Optional(erasable(iban())),
  bic: Type.Optional(erasable(bic("bic"))),
  swift_code: Type.Optional(erasable(bic("swift_code"))),
  routing_number: Type.Optional(erasable(routingNumber())),
  bank_name: Type.Optional(erasable(nameText({}))),
  bank_address: Type.Optional(erasable(nameText({}))),
  address: Type.Optional(erasable(nameText({}))),
  city: Type.Optional(erasable(nameText({}))),
  postal_code: Type.Optional(erasable(nameText({}))),
  country_code: Type.Optional(erasable(country())),
});

type Details = { [K in keyof ReturnType<typeof details>]?: string | null | undefined };

/** The details in the service's words. */
function detailsOf(body: Details) {
  const { named, cleared } = namedAndCleared(body);
  return {
    accountNumber: named.account_number,
    iban: named.iban,
    bic: named.bic,
    swiftCode: named.swift_code,
    routingNumber: named.routing_number,
    bankName: named.bank_name,
    bankAddress: named.bank_address,
    address: named.address,
    city: named.city,
    postalCode: named.postal_code,
    countryCode: named.country_code,
    cleared,
  };
}

export const beneficiaries =
  ({ rpc }: Gateway) =>
  async (app: App): Promise<void> => {
    app.post(
      "",
      {
        schema: {
          tags,
          operationId: "createBeneficiary",
          summary: "Create a beneficiary",
          description: "For a client that is not blocked. An IBAN or an account number is needed.",
          body: bodyOf({
            client_id: uuid(),
            beneficiary_type: Type.Optional(choice(beneficiaryTypes)),
            name: nameText({ examples: ["Karim Haddad"] }),
            display: Type.Optional(flag()),
            ...details(),
          }),
          response: { 201: BeneficiaryJson },
        },
      },
      async (request, reply) => {
        const { client_id, beneficiary_type, name, display, ...rest } = request.body;
        const { cleared: _absent, ...given } = detailsOf(rest);
        const beneficiary = await rpc.beneficiaries.createBeneficiary(
          { clientId: client_id, type: beneficiary_type && BeneficiaryType[beneficiary_type], name, display, ...given },
          callOf(request, reply),
        );
        reply.code(201).header("location", `/api/v1/beneficiaries/${beneficiary.id}`);
        return renderBeneficiary(beneficiary);
      },
    );

    app.get(
      "",
      {
        schema: {
          tags,
          operationId: "listBeneficiaries",
          summary: "List beneficiaries, newest first",
          querystring: Type.Object({
            ...pageParameters(),
            client_id: Type.Optional(uuid()),
            beneficiary_type: Type.Optional(choice(beneficiaryTypes)),
            country_code: Type.Optional(country()),
            display: Type.Optional(flag()),
            search: Type.Optional(
              search({ description: "Any part of name, IBAN or account number, in any case; IBANs without their spaces." }),
            ),
          }),
          response: { 200: Type.Array(BeneficiaryJson) },
        },
      },
      async (request, reply) => {
        const { query } = request;
        const page = await rpc.beneficiaries.listBeneficiaries(
          {
            limit: query.limit,
            offset: query.offset,
            clientId: query.client_id,
            type: query.beneficiary_type && BeneficiaryType[query.beneficiary_type],
            countryCode: query.country_code,
            display: query.display,
            search: query.search,
          },
          callOf(request, reply),
        );
        pageHeaders(request, reply, query, { ...page, shown: page.beneficiaries.length });
        return page.beneficiaries.map(renderBeneficiary);
      },
    );

    app.get(
      "/:id",
      {
        schema: {
          tags,
          operationId: "getBeneficiary",
          summary: "Read a beneficiary",
          params: PathId,
          response: { 200: BeneficiaryJson },
        },
      },
      async (request, reply) => {
        const id = pathId(request.params);
        return renderBeneficiary(await rpc.beneficiaries.getBeneficiary({ id }, callOf(request, reply)));
      },
    );

    app.put(
      "/:id",
      {
        schema: {
          tags,
          operationId: "updateBeneficiary",
          summary: "Change a beneficiary",
          description:
            "A field that is left out stays; null or an empty text clears an optional one. An IBAN or an account number must " +
            "remain. `display` false hides the beneficiary, which takes the place of deleting it.",
          params: PathId,
          body: bodyOf(
            {
              beneficiary_type: Type.Optional(choice(beneficiaryTypes)),
              name: Type.Optional(nameText({ examples: ["Karim Haddad"] })),
              display: Type.Optional(flag()),
              ...details(),
            },
            { immutable: ["id", "client_id", "created_at", "updated_at"] },
          ),
          response: { 200: BeneficiaryJson },
        },
      },
      async (request, reply) => {
        const { beneficiary_type, name, display, ...rest } = request.body;
        const type = beneficiary_type && BeneficiaryType[beneficiary_type];
        const beneficiary = await rpc.beneficiaries.updateBeneficiary(
          { id: pathId(request.params), type, name, display, ...detailsOf(rest) },
          callOf(request, reply),
        );
        return renderBeneficiary(beneficiary);
      },
    );
  };
