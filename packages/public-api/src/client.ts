import {
  ClientKycStatus,
  type Client as ClientMessage,
  ClientSchema,
  KycLevel,
  RiskLevel,
} from "@amana/contracts/clients/v1/client_pb";
import { enumNames } from "@amana/contracts/enum-names";
import { type Static, Type } from "typebox";
import { createRenderer } from "./renderer.ts";

export const genders = ["male", "female"] as const;
export const kycLevels = enumNames(KycLevel);
/** The only enum of the API with capitalized values: "Low", "Medium", "High". */
export const riskLevels = enumNames(RiskLevel).map(
  (name) => `${name.slice(0, 1)}${name.slice(1).toLowerCase()}` as Capitalize<Lowercase<typeof name>>,
);
export const clientKycStatuses = enumNames(ClientKycStatus);

const country = () => Type.String({ description: "Country code (ISO 3166-1 alpha-3).", examples: ["DZA"] });
const optionalText = () => Type.Optional(Type.String());

/** Schema of a client: a natural person whom a business serves. */
export const ClientJson = Type.Object({
  id: Type.String({ format: "uuid" }),
  organization_id: Type.Integer({ description: "Number of the business, assigned by Amana." }),
  first_name: Type.String({ examples: ["Amina"] }),
  middle_name: optionalText(),
  last_name: Type.String({ examples: ["Benali"] }),
  date_of_birth: Type.String({ format: "date", examples: ["1990-05-17"] }),
  gender: Type.Enum([...genders]),
  birth_country: country(),
  nationality: country(),
  country_of_tax_residence: country(),
  address: Type.String(),
  city: Type.String(),
  postcode: Type.String(),
  state_province: optionalText(),
  country_code: country(),
  email: Type.String({ format: "email" }),
  second_email: optionalText(),
  mobile_phone_number: optionalText(),
  second_mobile_phone_number: optionalText(),
  planned_income: optionalText(),
  planned_expenditure: optionalText(),
  external_client_code: Type.Optional(Type.String({ description: "Your own identifier of the client." })),
  blocked: Type.Boolean({
    description: "Whether the client is blocked. A blocked client gets no new account, beneficiary or KYC application.",
  }),
  is_blacklisted: Type.Boolean({ description: "Whether the client is on your blacklist. The flag has no effect of its own." }),
  blacklisted_comment: optionalText(),
  risk_level: Type.Enum(riskLevels),
  kyc_level: Type.Enum(kycLevels),
  kyc_status: Type.Enum(clientKycStatuses, { description: "Status of the client's newest KYC application." }),
  kyc_note: optionalText(),
  created_at: Type.String({ format: "date-time" }),
  updated_at: Type.String({ format: "date-time" }),
});

const renderPerson = createRenderer(ClientSchema, Type.Omit(ClientJson, ["organization_id"]));

/** Renders a client. `organizationId` is the number of the client's business. */
export const renderClient = (client: ClientMessage, organizationId: number): Static<typeof ClientJson> => ({
  ...renderPerson(client),
  organization_id: organizationId,
});
