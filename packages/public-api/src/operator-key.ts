import { OperatorKeySchema } from "@amana/contracts/identity/v1/operator_key_pb";
import { Type } from "typebox";
import { createRenderer } from "./renderer.ts";

const OperatorKeyJson = Type.Object({
  id: Type.String({ format: "uuid" }),
  name: Type.String({ examples: ["amina, on call"] }),
  admin_key: Type.Optional(Type.String({ description: "Plaintext of the key; only in the response that issues it." })),
  admin_key_prefix: Type.String({ description: "First 16 characters of the key.", examples: ["ak_A1b2C3d4E5f6G"] }),
  created_at: Type.String({ format: "date-time" }),
  last_used_at: Type.Optional(Type.String({ format: "date-time", description: "Time of the last use, to the minute." })),
  revoked_at: Type.Optional(Type.String({ format: "date-time" })),
});

/** Schema of an operator key. */
export const OperatorKey = Type.Omit(OperatorKeyJson, ["admin_key"]);
export const OperatorKeyCreation = Type.Omit(OperatorKeyJson, ["last_used_at", "revoked_at"]);

/**
 * Renders an operator key with all public fields. The response schema of each operation drops the
 * fields that it does not list.
 */
export const renderOperatorKey = createRenderer(OperatorKeySchema, OperatorKeyJson, { admin_key_prefix: "prefix" });
