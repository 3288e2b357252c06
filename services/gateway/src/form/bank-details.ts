import {
  accountNumberPattern,
  bankDetailForms,
  bicPattern,
  isIban,
  isRoutingNumber,
  normaliseBankDetail,
  routingNumberPattern,
} from "@amana/public-api";
import { Type } from "typebox";
import { field } from "./field.ts";

const spacing = "White space and small letters are put right.";

export const iban = () =>
  field(
    Type.String({
      // Check digits, and each country's own structure, are more than a pattern can say.
      format: "iban",
      pattern: "^[A-Z]{2}\\d{2}[A-Z0-9]{11,30}$",
      description: `ISO 13616. ${spacing} An Algerian one has 26 characters.`,
      examples: ["DZ580002100001113000000570"],
    }),
    { message: `must be ${bankDetailForms.iban}`, normalise: normaliseBankDetail, accepts: isIban },
  );

export const bic = (name: "bic" | "swift_code") =>
  field(Type.String({ pattern: bicPattern, description: `ISO 9362. ${spacing}`, examples: ["BEXADZAL"] }), {
    message: `must be ${bankDetailForms[name]}`,
    normalise: normaliseBankDetail,
  });

export const bankAccountNumber = () =>
  field(Type.String({ pattern: accountNumberPattern, examples: ["00799999002345678941"] }), {
    message: `must be ${bankDetailForms.account_number}`,
  });

export const routingNumber = () =>
  field(
    Type.String({
      // The last digit checks the others, which is more than a pattern can say.
      format: "aba-routing-number",
      pattern: routingNumberPattern,
      description: "US ABA routing number.",
      examples: ["021000021"],
    }),
    { message: `must be ${bankDetailForms.routing_number}`, accepts: isRoutingNumber },
  );
