import { BeneficiaryJson, beneficiaryTypes, renderBeneficiary } from "@amana/public-api";
import { Type } from "typebox";
import { bankAccountNumber, bic, iban, routingNumber } from "../form/bank-details.ts";
import { clearableText } from "../form/field.ts";
import { choice, country, flag, nameText, search, uuid } from "../form/fields.ts";
import type { App, Gateway } from "../gateway.ts";
import { addChangeRoute, addCreateRoute, addListRoute, addReadRoute } from "../operations.ts";

const beneficiary = {
  tag: "Beneficiaries",
  response: BeneficiaryJson,
  render: renderBeneficiary,
  rpcNames: { beneficiary_type: "type" },
} as const;

const name = () => nameText({ description: "Name of the person or company.", examples: ["Karim Haddad"] });
const display = () => flag("Whether the beneficiary is shown to users.");

const details = () => ({
  account_number: Type.Optional(clearableText(bankAccountNumber())),
  iban: Type.Optional(clearableText(iban())),
  bic: Type.Optional(clearableText(bic("bic"))),
  swift_code: Type.Optional(clearableText(bic("swift_code"))),
  routing_number: Type.Optional(clearableText(routingNumber())),
  bank_name: Type.Optional(clearableText(nameText({}))),
  bank_address: Type.Optional(clearableText(nameText({}))),
  address: Type.Optional(clearableText(nameText({}))),
  city: Type.Optional(clearableText(nameText({}))),
  postal_code: Type.Optional(clearableText(nameText({}))),
  country_code: Type.Optional(clearableText(country())),
});

export async function beneficiaries(app: App, { rpc: { beneficiaries: rpc } }: Gateway): Promise<void> {
  addCreateRoute(app, "", {
    ...beneficiary,
    rpc: rpc.createBeneficiary,
    summary: "Create a beneficiary",
    description:
      "Creates a beneficiary of a client. Requires an IBAN or an account number. Fails with 409 `client_blocked` for a " +
      "blocked client.",
    body: {
      client_id: uuid("Client who pays the beneficiary."),
      beneficiary_type: Type.Optional(choice(beneficiaryTypes)),
      name: name(),
      display: Type.Optional(display()),
      ...details(),
    },
  });

  addListRoute(app, "", {
    ...beneficiary,
    rpc: rpc.listBeneficiaries,
    summary: "List beneficiaries",
    description:
      "Returns the beneficiaries of your business that match all filters, newest first. Hidden beneficiaries are " +
      "included unless `display` is true.",
    filters: {
      client_id: uuid("Client who pays the beneficiary."),
      beneficiary_type: choice(beneficiaryTypes),
      country_code: country(),
      display: display(),
      search: search({ description: "Part of the name, IBAN (without spaces) or account number. Case is ignored." }),
    },
  });

  addReadRoute(app, "/:id", {
    ...beneficiary,
    rpc: rpc.getBeneficiary,
    summary: "Get a beneficiary",
    description: "Returns a beneficiary with its bank details.",
  });

  addChangeRoute(app, "PUT", "/:id", {
    ...beneficiary,
    rpc: rpc.updateBeneficiary,
    summary: "Update a beneficiary",
    description:
      "Changes the fields in the request. Absent fields stay unchanged; null or an empty string clears an optional " +
      "field. Fails with 422 when neither an IBAN nor an account number would remain. Beneficiaries cannot be deleted; " +
      "set `display` to false to hide one.",
    body: { beneficiary_type: choice(beneficiaryTypes), name: name(), display: display(), ...details() },
  });
}
