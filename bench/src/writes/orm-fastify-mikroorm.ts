/**
 * A server for the same writes as the system, written as the documentation of MikroORM recommends:
 * a forked EntityManager for each request, entity classes, repositories and `em.transactional`. One
 * transaction contains the change, its event in the outbox and the Idempotency-Key.
 */
import { createHash } from "node:crypto";
import { uuidv7 } from "@amana/runtime";
import { type EntityManager, LockMode, MikroORM, type Options } from "@mikro-orm/postgresql";
import fastify, { type FastifyRequest } from "fastify";
import { ApiKey, Business } from "../reads/identity-entities.ts";
import { toPaymentJson } from "../reads/payment-json.ts";
import { outboxValues } from "../webhooks/commit-event.ts";
import { callProcessor } from "./call-processor.ts";
import { Beneficiary, Client, IdempotencyKey, OutboxMessage, Payment, Refund } from "./orm-entities.ts";

const connect = (database: string, entities: NonNullable<Options["entities"]>) =>
  MikroORM.init({
    clientUrl: process.env[`${database}_DATABASE_URL`] ?? "",
    contextName: database,
    entities,
    pool: { max: 16 },
  });
const identity = await connect("IDENTITY", [Business, ApiKey]);
const clients = await connect("CLIENTS", [Client, Beneficiary, IdempotencyKey]);
const payments = await connect("PAYMENTS", [Payment, Refund, OutboxMessage, IdempotencyKey]);
const app = fastify();

app.get("/healthz", async () => ({}));

app.addHook("onRequest", async (request, reply) => {
  if (request.url === "/healthz") return;
  const key = request.headers.authorization?.slice("Bearer ".length) ?? "";
  const hash = createHash("sha256").update(key).digest();
  const apiKeys = identity.em.fork().getRepository(ApiKey);
  const apiKey = await apiKeys.findOne({ hash, revokedAt: null, business: { status: "ACTIVE" } });
  if (!apiKey) return reply.code(401).send({});
  request.headers["business-id"] = apiKey.business.id;
});

class HttpError extends Error {
  readonly statusCode: number;
  constructor(statusCode: number, message: string) {
    super(message);
    this.statusCode = statusCode;
  }
}

/**
 * Runs `work` once for the request's Idempotency-Key. A repeated request gets the stored response.
 * If two requests with one key run at the same time, the unique index rejects the second commit.
 */
async function runOnce<T extends object>(
  orm: MikroORM,
  { headers, url: route, body }: FastifyRequest,
  work: (em: EntityManager) => Promise<T>,
): Promise<T> {
  const [scope, key] = [String(headers["business-id"]), String(headers["idempotency-key"])];
  const fingerprint = createHash("sha256")
    .update(JSON.stringify(body ?? {}))
    .digest("hex");
  return await orm.em.fork().transactional(async (em) => {
    const keys = em.getRepository(IdempotencyKey);
    const usedKey = await keys.findOne({ scope, route, key });
    if (usedKey && usedKey.fingerprint !== fingerprint) throw new HttpError(422, "the key was used with another body");
    if (usedKey) return JSON.parse(Buffer.from(usedKey.answer ?? "{}").toString()) as T;
    const response = await work(em as EntityManager);
    em.persist(keys.create({ scope, route, key, fingerprint, answer: Buffer.from(JSON.stringify(response)) }));
    return response;
  });
}

app.post("/api/v1/beneficiaries", async (request, reply) => {
  const businessId = String(request.headers["business-id"]);
  const body = request.body as Record<string, string>;
  const created = await runOnce(clients, request, async (em) => {
    const client = await em
      .getRepository(Client)
      .findOne({ businessId, id: body["client_id"] ?? "" }, { lockMode: LockMode.PESSIMISTIC_WRITE });
    if (!client) throw new HttpError(404, "no such client");
    if (client.blocked) throw new HttpError(409, "the client is blocked");
    const beneficiary = em.getRepository(Beneficiary).create({
      id: uuidv7(),
      businessId,
      client,
      type: body["beneficiary_type"] ?? "PERSON",
      name: body["name"] ?? "",
      display: true,
      accountNumber: body["account_number"] ?? null,
      iban: body["iban"] ?? null,
      bic: body["bic"] ?? null,
      countryCode: body["country_code"] ?? null,
    });
    em.persist(beneficiary);
    return { ...body, id: beneficiary.id, business_id: businessId, type: beneficiary.type, display: true };
  });
  return reply.code(201).send(created);
});

app.post<{ Params: { id: string } }>("/api/v1/payments/:id/refund", async (request) => {
  const businessId = String(request.headers["business-id"]);
  return await runOnce(payments, request, async (em) => {
    const payment = await em
      .getRepository(Payment)
      .findOne({ businessId, id: request.params.id }, { lockMode: LockMode.PESSIMISTIC_WRITE });
    if (!payment) throw new HttpError(404, "no such payment");
    if (payment.status !== "PAID") throw new HttpError(409, "the payment is not refundable");
    const { amountMinor } = payment;
    const order = { orderId: payment.processorOrderId ?? "" };
    const state = await callProcessor("getOrderStatusExtended.do", order);
    if (state["orderStatus"] !== 2) throw new HttpError(409, "the payment is not refundable");
    const now = new Date();
    const result = await callProcessor("refund.do", { ...order, amount: String(amountMinor) });
    if (String(result["errorCode"]) !== "0") throw new HttpError(422, "the processor refused the refund");
    const refunds = em.getRepository(Refund);
    const sentState = { refundedBeforeMinor: 0n, sends: 1, checks: 0, lastSentAt: now, decisionDueAt: now };
    em.persist(refunds.create({ businessId, payment, amountMinor, status: "ACCEPTED", ...sentState }));
    const ended = { refundedAmountMinor: amountMinor, refundedAt: now, refundEndedAt: now };
    em.assign(payment, { status: "REFUNDED", ...ended });
    const [topic, key, payload, headers] = outboxValues(uuidv7(), businessId, payment.id);
    em.persist(em.getRepository(OutboxMessage).create({ topic, key, payload, headers: JSON.parse(headers) }));
    return toPaymentJson(toRow(payment));
  });
});

/** Returns the values of an entity by column name. */
const toRow = (payment: Payment): Record<string, unknown> =>
  Object.fromEntries(
    payments
      .getMetadata(Payment)
      .props.map(({ name, fieldNames }) => [fieldNames[0] ?? name, (payment as unknown as Record<string, unknown>)[name]]),
  );

await app.listen({ host: "127.0.0.1", port: Number(process.env["PORT"]) });
