/** A server like bare-fastify-pg.ts, but with MikroORM in place of the two SQL queries. */
import { createHash } from "node:crypto";
import { defineEntity, MikroORM, p } from "@mikro-orm/postgresql";
import fastify from "fastify";
import { ApiKey, Business } from "./identity-entities.ts";
import { toPaymentJson } from "./payment-json.ts";

const columns = [
  ...[
    "currency",
    "status",
    "language",
    "success_url",
    "fail_url",
    "processor_order_number",
    "return_token",
    "action_code",
    "action_code_description",
  ],
  ...["approval_code", "card_brand", "description", "form_url", "masked_pan", "order_ref", "resp_code", "resp_code_desc"],
  ...["processor_error_code", "processor_order_id"],
];
const Payment = defineEntity({
  name: "Payment",
  tableName: "payment",
  properties: {
    id: p.uuid().primary(),
    business_id: p.uuid().name("business_id"),
    amount_minor: p.bigint("bigint").name("amount_minor"),
    refunded_amount_minor: p.bigint("bigint").name("refunded_amount_minor").nullable(),
    processor_order_status: p.integer().name("processor_order_status").nullable(),
    created_at: p.datetime().name("created_at"),
    updated_at: p.datetime().name("updated_at"),
    paid_at: p.datetime().name("paid_at").nullable(),
    ...Object.fromEntries(columns.map((name) => [name, p.text().name(name).nullable()])),
  },
});

const identity = await MikroORM.init({
  clientUrl: process.env["IDENTITY_DATABASE_URL"] ?? "",
  entities: [Business, ApiKey],
  pool: { max: 16 },
});
const payments = await MikroORM.init({
  clientUrl: process.env["PAYMENTS_DATABASE_URL"] ?? "",
  entities: [Payment],
  pool: { max: 16 },
});
const app = fastify();

app.get("/healthz", async () => ({}));
app.get<{ Params: { id: string } }>("/api/v1/payments/:id", async (request, reply) => {
  const key = request.headers.authorization?.slice("Bearer ".length) ?? "";
  const apiKey = await identity.em
    .fork()
    .findOne(
      ApiKey,
      { hash: createHash("sha256").update(key).digest(), revokedAt: null, business: { status: "ACTIVE" } },
      { populate: ["business"] },
    );
  if (!apiKey) return reply.code(401).send({});
  const payment = await payments.em.fork().findOne(Payment, { business_id: apiKey.business.id, id: request.params.id });
  if (!payment) return reply.code(404).send({});
  return toPaymentJson(payment as unknown as Record<string, unknown>);
});

await app.listen({ host: "127.0.0.1", port: Number(process.env["PORT"]) });
