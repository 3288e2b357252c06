import { BeneficiaryJson, beneficiaryTypes, renderBeneficiary } from "@amana/public-api";
import { Type } from "typebox";
import { bankAccountNumber, bic, iban, routingNumber } from "../form/bank-details.ts";
import { erasable } from "../form/field.ts";
import { choice, country, flag, nameText, search, uuid } from "../form/fields.ts";
import type { App, Gateway } from "../gateway.ts";
import { change, create, list, read } from "../operations.ts";

const beneficiary = {
  tags: ["Beneficiaries"],
  answer: BeneficiaryJson,
  render: renderBeneficiary,
  rpcNames: { beneficiary_type: "type" },
};

const name = () => nameText({ examples: ["Karim Haddad"] });

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

export async function beneficiaries(app: App, { rpc: { beneficiaries: rpc } }: Gateway): Promise<void> {
  create(app, "", {
    ...beneficiary,
    rpc: rpc.createBeneficiary,
    summary: "Create a beneficiary",
    description: "For a client that is not blocked. An IBAN or an account number is needed.",
    body: {
      client_id: uuid(),
      beneficiary_type: Type.Optional(choice(beneficiaryTypes)),
      name: name(),
      display: Type.Optional(flag()),
      ...details(),
    },
  });

  list(app, "", {
    ...beneficiary,
    rpc: rpc.listBeneficiaries,
    summary: "List beneficiaries, newest first",
    filters: {
      client_id: uuid(),
      beneficiary_type: choice(beneficiaryTypes),
      country_code: country(),
      display: flag(),
      search: search({ description: "Any part of name, IBAN or account number, in any case; IBANs without their spaces." }),
    },
  });

  read(app, "/:id", { ...beneficiary, rpc: rpc.getBeneficiary, summary: "Read a beneficiary" });

  change(app, "PUT", "/:id", {
    ...beneficiary,
    rpc: rpc.updateBeneficiary,
    summary: "Change a beneficiary",
    description:
      "A field that is left out stays; null or an empty text clears an optional one. An IBAN or an account number must " +
      "remain. `display` false hides the beneficiary, which takes the place of deleting it.",
    body: { beneficiary_type: choice(beneficiaryTypes), name: name(), display: flag(), ...details() },
  });
}
