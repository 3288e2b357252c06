import { OperatorKeySchema } from "@amana/contracts/identity/v1/operator_key_pb";
import { Type } from "typebox";
import { renderer } from "./renderer.ts";

const OperatorKeyJson = Type.Object({
  id: Type.String({ format: "uuid" }),
  name: Type.String({ examples: ["amina, on call"] }),
  admin_key: Type.Optional(Type.String({ description: "The plaintext key, only in the answer that issues it." })),
  admin_key_prefix: Type.String({ examples: ["ak_A1b2C3d4E5f6G"] }),
  created_at: Type.String({ format: "date-time" }),
  last_used_at: Type.Optional(Type.String({ format: "date-time", description: "To the minute." })),
  revoked_at: Type.Optional(Type.String({ format: "date-time" })),
});

/** A key of an operator, as operators see it. */
export const OperatorKey = Type.Omit(OperatorKeyJson, ["admin_key"]);
export const OperatorKeyCreation = Type.Omit(OperatorKeyJson, ["last_used_at", "revoked_at"]);

/** A key with every public field; the schema of each answer chooses among them. */
export const renderOperatorKey = renderer(OperatorKeySchema, OperatorKeyJson, { admin_key_prefix: "prefix" });
