import { OperatorKeySchema } from "@amana/contracts/identity/v1/operator_key_pb";
import { ListOperatorKeysRequestSchema } from "@amana/contracts/identity/v1/operator_key_service_pb";
import { defineList, defineView, type RowOf } from "@amana/database";
import { AdminKey } from "./admin-key.ts";

const operatorKeyView = defineView(AdminKey, OperatorKeySchema);

/**
 * Returns the RPC message of an operator key. Only the response that issues the key may contain
 * `plaintext`.
 */
export const toOperatorKeyMessage = (key: RowOf<typeof operatorKeyView>, plaintext?: string) =>
  operatorKeyView.toMessage(key, { adminKey: plaintext });

export const operatorKeyList = defineList(operatorKeyView, ListOperatorKeysRequestSchema, {});
