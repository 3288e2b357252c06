import {
  accountNumberPattern,
  bankDetailDescriptions,
  bicPattern,
  isIban,
  isRoutingNumber,
  normaliseBankDetail,
  routingNumberPattern,
} from "@amana/public-api";
import { Type } from "typebox";
import { field } from "./field.ts";

const normalisation = "White space is removed and lower-case letters become capitals.";

export const iban = () =>
  field(
    Type.String({
      // A pattern cannot express the check digits and the different structure of each country's
      // IBAN.
      format: "iban",
      pattern: "^[A-Z]{2}\\d{2}[A-Z0-9]{11,30}$",
      description: `IBAN (ISO 13616). ${normalisation} An Algerian IBAN has 26 characters.`,
      examples: ["DZ580002100001113000000570"],
    }),
    { message: `must be ${bankDetailDescriptions.iban}`, normalise: normaliseBankDetail, accepts: isIban },
  );

export const bic = (name: "bic" | "swift_code") =>
  field(
    Type.String({
      pattern: bicPattern,
      description: `BIC, also called SWIFT code (ISO 9362), of 8 or 11 characters. ${normalisation}`,
      examples: ["BEXADZAL"],
    }),
    {
      message: `must be ${bankDetailDescriptions[name]}`,
      normalise: normaliseBankDetail,
    },
  );

export const bankAccountNumber = () =>
  field(
    Type.String({
      pattern: accountNumberPattern,
      description: "Bank account number of 1 to 34 letters or digits.",
      examples: ["00799999002345678941"],
    }),
    {
      message: `must be ${bankDetailDescriptions.account_number}`,
    },
  );

export const routingNumber = () =>
  field(
    Type.String({
      // A pattern cannot express the check digit.
      format: "aba-routing-number",
      pattern: routingNumberPattern,
      description: "US routing number (ABA) of 9 digits.",
      examples: ["021000021"],
    }),
    { message: `must be ${bankDetailDescriptions.routing_number}`, accepts: isRoutingNumber },
  );
