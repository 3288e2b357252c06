import { BusinessSchema } from "@amana/contracts/identity/v1/business_pb";
import { Type } from "typebox";
import { businessStatuses } from "./names.ts";
import { renderer } from "./renderer.ts";

const BusinessJson = Type.Object({
  id: Type.String({ format: "uuid" }),
  name: Type.String({ examples: ["Librairie El Kitab"] }),
  status: Type.Enum(businessStatuses),
  created_at: Type.String({ format: "date-time" }),
  updated_at: Type.String({ format: "date-time" }),
  organization_id: Type.Integer({ description: "Assigned by the platform, one for each business." }),
  contact_email: Type.Optional(Type.String({ format: "email", description: "Of a business that registered itself." })),
  api_key: Type.Optional(Type.String({ description: "The plaintext key, only in the answer that issues it." })),
  api_key_prefix: Type.Optional(Type.String({ description: "First 16 characters of the newest live key." })),
});

/** What an operator sees. `api_key` only when one was issued. */
export const BusinessForOperator = BusinessJson;
/** What a business sees of itself. */
export const BusinessForItself = Type.Omit(BusinessJson, ["organization_id", "contact_email", "api_key"]);
/** What a business gets that registers itself. */
export const BusinessOnboarding = Type.Omit(BusinessJson, ["organization_id"]);
/** The answer to a change. */
export const BusinessUpdate = Type.Omit(BusinessJson, ["created_at", "organization_id", "contact_email"]);

/** A business with every public field; the schema of each answer chooses among them. */
export const renderBusiness = renderer(BusinessSchema, BusinessJson);
