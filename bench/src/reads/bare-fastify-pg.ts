/**
 * A minimal server for reads of a payment. One process with Fastify and pg runs the two queries
 * that a read through the gateway also needs.
 */
import { createHash } from "node:crypto";
import fastify from "fastify";
import pg from "pg";
import { toPaymentJson } from "./payment-json.ts";

const identity = new pg.Pool({ connectionString: process.env["IDENTITY_DATABASE_URL"], max: 16 });
const payments = new pg.Pool({ connectionString: process.env["PAYMENTS_DATABASE_URL"], max: 16 });
const app = fastify();

app.get("/healthz", async () => ({}));
app.get<{ Params: { id: string } }>("/api/v1/payments/:id", async (request, reply) => {
  const key = request.headers.authorization?.slice("Bearer ".length) ?? "";
  const keys = await identity.query({
    name: "key",
    text: `select k.business_id from api_key k join business b on b.id = k.business_id
      where k.hash = $1 and k.revoked_at is null and b.status = 'ACTIVE'`,
    values: [createHash("sha256").update(key).digest()],
  });
  if (keys.rows.length === 0) return reply.code(401).send({});
  const paymentRows = await payments.query({
    name: "payment",
    text: "select * from payment where business_id = $1 and id = $2",
    values: [keys.rows[0].business_id, request.params.id],
  });
  if (paymentRows.rows.length === 0) return reply.code(404).send({});
  return toPaymentJson(paymentRows.rows[0]);
});

await app.listen({ host: "127.0.0.1", port: Number(process.env["PORT"]) });
