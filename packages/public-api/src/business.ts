import { BusinessSchema } from "@amana/contracts/identity/v1/business_pb";
import { Type } from "typebox";
import { businessStatuses } from "./names.ts";
import { createRenderer } from "./renderer.ts";

const BusinessJson = Type.Object({
  id: Type.String({ format: "uuid" }),
  name: Type.String({ examples: ["Librairie El Kitab"] }),
  status: Type.Enum(businessStatuses),
  created_at: Type.String({ format: "date-time" }),
  updated_at: Type.String({ format: "date-time" }),
  organization_id: Type.Integer({ description: "Number of the business, assigned by Amana." }),
  contact_email: Type.Optional(
    Type.String({ format: "email", description: "Contact address. Only of a business that registered itself." }),
  ),
  api_key: Type.Optional(Type.String({ description: "Plaintext of the key; only in the response that issues it." })),
  api_key_prefix: Type.Optional(Type.String({ description: "First 16 characters of the newest live API key." })),
});

/**
 * Schema of a business for operators. `api_key` is present only in a response that issues an API
 * key.
 */
export const BusinessForOperator = BusinessJson;
/** Schema of a business in responses to the business itself. */
export const BusinessForItself = Type.Omit(BusinessJson, ["organization_id", "contact_email", "api_key"]);
/** Schema of the response to a registration with an invitation. */
export const BusinessOnboarding = Type.Omit(BusinessJson, ["organization_id"]);
/** Schema of the response to an update of a business. */
export const BusinessUpdate = Type.Omit(BusinessJson, ["created_at", "organization_id", "contact_email"]);

/**
 * Renders a business with all public fields. The response schema of each operation drops the fields
 * that it does not list.
 */
export const renderBusiness = createRenderer(BusinessSchema, BusinessJson);
