import { AccountStatus, AccountType } from "@amana/contracts/clients/v1/account_pb";
import { ListAccountsRequestSchema } from "@amana/contracts/clients/v1/account_service_pb";
import { RiskLevel } from "@amana/contracts/clients/v1/client_pb";
import { ListClientsRequestSchema, UpdatePersonRequestSchema } from "@amana/contracts/clients/v1/client_service_pb";
import { ListPaymentsRequestSchema } from "@amana/contracts/payments/v1/payment_service_pb";
import { DeliveryStatus } from "@amana/contracts/webhooks/v1/event_pb";
import { ReplayWebhookEndpointRequestSchema } from "@amana/contracts/webhooks/v1/webhook_endpoint_service_pb";
import { expect, test } from "vitest";
import { toRpcRequest } from "./rpc-request.ts";

test("toRpcRequest converts field names to the names in the message, and enum values in upper, lower or mixed case to numbers", () => {
  expect(toRpcRequest(ListAccountsRequestSchema, { limit: 2, client_id: "c", status: "CLOSED", search: undefined })).toEqual({
    limit: 2,
    clientId: "c",
    status: AccountStatus.CLOSED,
  });
  expect(toRpcRequest(ListClientsRequestSchema, { risk_level: "Low" })).toEqual({ riskLevel: RiskLevel.LOW });
});

test("toRpcRequest converts each enum value in a list to its number", () => {
  const fields = { statuses: ["skipped", "failed"] };
  expect(toRpcRequest(ReplayWebhookEndpointRequestSchema, fields)).toEqual({
    statuses: [DeliveryStatus.SKIPPED, DeliveryStatus.FAILED],
  });
});

test("toRpcRequest writes the field account_type to the message field `type` if `rpcNames` maps account_type to `type`", () => {
  const fields = { account_type: "CURRENT", limit: 2 };
  expect(toRpcRequest(ListAccountsRequestSchema, fields, { account_type: "type" })).toEqual({
    type: AccountType.CURRENT,
    limit: 2,
  });
  expect(() => toRpcRequest(ListAccountsRequestSchema, fields)).toThrow("no field for account_type");
});

test("toRpcRequest converts times with any offset to Unix milliseconds", () => {
  const times = { created_from: "2026-11-20T11:00:00+01:00", created_to: "2026-11-20t10:00:00.5z" };
  expect(toRpcRequest(ListPaymentsRequestSchema, times)).toEqual({
    createdFromMs: 1_795_168_800_000n,
    createdToMs: 1_795_168_800_500n,
  });
});

test("toRpcRequest lists null and empty fields by name in `cleared`, or omits them if the message has no field `cleared`", () => {
  expect(toRpcRequest(UpdatePersonRequestSchema, { id: "c", kyc_note: null, city: "Oran", second_email: "" })).toEqual({
    id: "c",
    city: "Oran",
    cleared: ["kyc_note", "second_email"],
  });
  expect(toRpcRequest(ListPaymentsRequestSchema, { order_ref: "" })).toEqual({});
});

test("toRpcRequest throws for a field that the message does not have", () => {
  expect(() => toRpcRequest(ListPaymentsRequestSchema, { colour: "red" })).toThrow("ListPaymentsRequest has no field for colour");
  expect(() => toRpcRequest(ListPaymentsRequestSchema, { constructor: "x" })).toThrow(TypeError);
});

test("toRpcRequest throws for a value that the enum does not have", () => {
  expect(() => toRpcRequest(ListAccountsRequestSchema, { status: "MELTED" })).toThrow(
    "MELTED is not a value of the enum field status",
  );
});
