import { bankDetailForms, isAccountNumber, isBic, isIban, isRoutingNumber, normaliseBankDetail } from "@amana/public-api";
import { Type } from "typebox";
import { field } from "./field.ts";

const spacing = "White space and small letters are put right.";

export const iban = () =>
  field(Type.String({ description: `${spacing} An Algerian one has 26 characters.`, examples: ["DZ580002100001113000000570"] }), {
    message: `must be ${bankDetailForms.iban}`,
    normalise: normaliseBankDetail,
    accepts: isIban,
  });

export const bic = (name: "bic" | "swift_code") =>
  field(Type.String({ description: `ISO 9362. ${spacing}`, examples: ["BEXADZAL"] }), {
    message: `must be ${bankDetailForms[name]}`,
    normalise: normaliseBankDetail,
    accepts: isBic,
  });

export const bankAccountNumber = () =>
  field(Type.String({ pattern: "^[A-Za-z0-9]{1,34}$", examples: ["00799999002345678941"] }), {
    message: `must be ${bankDetailForms.account_number}`,
    accepts: isAccountNumber,
  });

export const routingNumber = () =>
  field(Type.String({ pattern: "^[0-9]{9}$", description: "US ABA routing number.", examples: ["021000021"] }), {
    message: `must be ${bankDetailForms.routing_number}`,
    accepts: isRoutingNumber,
  });
