import { PaymentSchema, PaymentStatus } from "@amana/contracts/payments/v1/payment_pb";
import { RefundSchema } from "@amana/contracts/payments/v1/refund_pb";
import { create } from "@bufbuild/protobuf";
import { Type } from "typebox";
import { expect, test } from "vitest";
import { createRenderer } from "./renderer.ts";

const message = (fields: object) => create(PaymentSchema, { currency: "DZD", ...fields });

test("createRenderer converts timestamps, amounts and enum values of message fields that have the name of a public field", () => {
  const schema = Type.Object({
    order_ref: Type.String(),
    paid_at: Type.String(),
    amount: Type.String(),
    status: Type.Enum(["Paid", "Failed"]),
    origin: Type.Optional(Type.String()),
  });
  const payment = message({ orderRef: "7", paidAtMs: 1_795_170_000_000n, amountMinor: 500_050n, status: PaymentStatus.PAID });
  expect(createRenderer(PaymentSchema, schema)(payment)).toEqual({
    order_ref: "7",
    paid_at: "2026-11-20T10:20:00.000Z",
    amount: "5000.50",
    status: "Paid",
  });
});

test("createRenderer omits unknown enum values and fields without a value", () => {
  const render = createRenderer(PaymentSchema, Type.Object({ status: Type.String(), paid_at: Type.String() }));
  expect(render(message({ status: PaymentStatus.UNSPECIFIED }))).toEqual({});
  expect(render(message({ status: 77 }))).toEqual({});
});

test("createRenderer reads a public field from the message field or function that `sources` lists for this field", () => {
  const schema = Type.Object({ ordered_at: Type.String(), shop: Type.String() });
  const render = createRenderer(PaymentSchema, schema, {
    ordered_at: "created_at",
    shop: ({ successUrl }) => successUrl.slice(8),
  });
  const payment = message({ createdAtMs: 1_795_170_000_000n, successUrl: "https://shop.example" });
  expect(render(payment)).toEqual({ ordered_at: "2026-11-20T10:20:00.000Z", shop: "shop.example" });
});

test("createRenderer throws when the message type lacks a field with the name of a public field", () => {
  expect(() => createRenderer(RefundSchema, Type.Object({ colour: Type.String() }))).toThrow(
    "payments.v1.Refund has no field for colour",
  );
});
