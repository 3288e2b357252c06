import { execAmana } from "@amana/e2e/run-amana";
import { repair as kyc } from "@amana/kyc/repair";
import { repair as payments } from "@amana/payments/repair";
import { uuidv7 } from "@amana/runtime";
import { createTestDatabase } from "@amana/testing";
import { repair as webhooks } from "@amana/webhooks/repair";
import { afterEach, beforeEach, expect, test } from "vitest";

let stack: AsyncDisposableStack;
beforeEach(() => {
  stack = new AsyncDisposableStack();
});
afterEach(() => stack.disposeAsync());

const minutesAgo = (minutes: number) => new Date(Date.now() - minutes * 60_000);

/**
 * Creates a restored database of payments and a database of webhooks. `restored` runs the command
 * on both databases.
 */
async function paymentsAndWebhooks() {
  const [paymentsDb, hooks] = [
    stack.use(await createTestDatabase("payments", payments.database)),
    stack.use(await createTestDatabase("webhooks", webhooks.database)),
  ];
  let number = 1_000_000_000;
  return {
    paymentsSql: <Row extends object>(sql: string, values: unknown[] = []) =>
      paymentsDb.orm.em.fork().execute<Row[]>(sql, values),
    async aPayment(status: string, businessId = uuidv7()) {
      const id = uuidv7();
      await paymentsDb.orm.em.fork().execute(
        `insert into payment (id, business_id, amount_minor, currency, status, language, success_url, fail_url, return_token,
           processor_order_number, paid_at, next_reread_at, created_at, updated_at)
         values (?, ?, 500000, 'DZD', ?, 'FR', 's', 'f', ?, ?, now(), now() + interval '1 day', now(), now())`,
        [id, businessId, status, id, String(number++)],
      );
      return { id, businessId };
    },
    async addEvent({ id, businessId }: { id: string; businessId: string }, status: string, at = minutesAgo(5)) {
      const body = { payment_id: id, status, amount: "5000.00", currency: "DZD", processor_order_id: `order of ${id}` };
      await hooks.orm.em
        .fork()
        .execute("insert into event (id, business_id, type, body, created_at) values (?, ?, ?, ?, ?)", [
          uuidv7(at.getTime()),
          businessId,
          "PAYMENT_COMPLETED",
          JSON.stringify(body),
          at,
        ]);
    },
    async restored() {
      const env = { PAYMENTS_DATABASE_URL: paymentsDb.url, WEBHOOKS_DATABASE_URL: hooks.url };
      const { code, out, err } = await execAmana(env, "restored", "--since", minutesAgo(10).toISOString(), "--json");
      if (out === "") throw new Error(err);
      return { code, rows: JSON.parse(out) as { id: string; here: string; status: string; details: string }[] };
    },
  };
}

test("`amana restored` lists lost and outdated payments, and schedules a read at the processor for the outdated payments only", async () => {
  const { aPayment, addEvent, restored, paymentsSql } = await paymentsAndWebhooks();
  const [older, unchanged, alreadyRefunded] = [await aPayment("PAID"), await aPayment("PAID"), await aPayment("REFUNDED")];
  const unknown = { id: uuidv7(), businessId: uuidv7() };
  await addEvent(older, "PAID", minutesAgo(6));
  await addEvent(older, "REFUNDED");
  await addEvent(unchanged, "PAID");
  await addEvent(alreadyRefunded, "REFUNDED");
  await addEvent(unknown, "PAID");
  await addEvent({ id: uuidv7(), businessId: uuidv7() }, "PAID", minutesAgo(20));
  const { code, rows } = await restored();
  expect(code).toBe(4);
  expect(rows).toHaveLength(2);
  expect(rows).toContainEqual(expect.objectContaining({ id: older.id, here: "PAID", status: "REFUNDED" }));
  const details = expect.stringContaining(`order of ${unknown.id}`);
  expect(rows).toContainEqual(expect.objectContaining({ id: unknown.id, here: "unknown", status: "PAID", details }));
  const due = await paymentsSql<{ id: string }>("select id from payment where next_reread_at <= now()");
  expect(due).toEqual([{ id: older.id }]);
  expect(await paymentsSql("select 1 from outbox where topic = 'audit.v1'")).toHaveLength(1);

  await paymentsSql("update payment set status = 'REFUNDED' where id = ?", [older.id]);
  expect((await restored()).rows).toMatchObject([{ id: unknown.id }]);
});

test("`amana restored` reports an event's payment as unknown if the payment with this id belongs to another business", async () => {
  const { aPayment, addEvent, restored } = await paymentsAndWebhooks();
  const { id } = await aPayment("PAID");
  await addEvent({ id, businessId: uuidv7() }, "PAID");
  expect((await restored()).rows).toMatchObject([{ id, here: "unknown" }]);
});

/**
 * Creates a restored database of kyc and a database of webhooks. `restored` runs the command on
 * both databases.
 */
async function kycAndWebhooks() {
  const [verifications, hooks] = [
    stack.use(await createTestDatabase("kyc", kyc.database)),
    stack.use(await createTestDatabase("webhooks", webhooks.database)),
  ];
  const kycSql = <Row extends object>(sql: string, values: unknown[] = []) =>
    verifications.orm.em.fork().execute<Row[]>(sql, values);
  return {
    kycSql,
    async anApplication(status: string, verdict: string | null = null, providerVerdict = verdict) {
      const [id, businessId] = [uuidv7(), uuidv7()];
      await kycSql(
        `insert into kyc_application (id, business_id, status, verdict, provider_verdict, provider_id, link_expires_at, metadata,
           allowed_documents, require_video, max_attempts, attempts_used, sequence, reason_codes, document_notices, aml_hit_count,
           synced_at, next_check_at, checks, revision, created_at, updated_at)
         values (?, ?, ?, ?, ?, ?, now(), '{}', '{passport}', true, 3, 1, 1, '{}', 0, 0, now(), now() + interval '1 hour', 0, 1, now(), now())`,
        [id, businessId, status, verdict, providerVerdict, `provider of ${id}`],
      );
      return { id, businessId };
    },
    async addEvent({ id, businessId }: { id: string; businessId: string }, status: string, verdict?: string, at = minutesAgo(5)) {
      const body = { application_id: id, status, verdict, external_id: `external of ${id}` };
      await hooks.orm.em
        .fork()
        .execute("insert into event (id, business_id, type, body, created_at) values (?, ?, ?, ?, ?)", [
          uuidv7(at.getTime()),
          businessId,
          "KYC_COMPLETED",
          JSON.stringify(body),
          at,
        ]);
    },
    async restored() {
      const env = { KYC_DATABASE_URL: verifications.url, WEBHOOKS_DATABASE_URL: hooks.url };
      const { code, out, err } = await execAmana(env, "restored", "kyc", "--since", minutesAgo(10).toISOString(), "--json");
      if (out === "") throw new Error(err);
      return { code, rows: JSON.parse(out) as { id: string; here: string; status: string; details: string }[] };
    },
  };
}

test("`amana restored kyc` emits KYC_NEEDS_REVIEW once for a lost review decision, and schedules a read of outdated applications at the provider", async () => {
  const { anApplication, addEvent, restored, kycSql } = await kycAndWebhooks();
  const decidedAtProvider = await anApplication("COMPLETED", "NEEDS_REVIEW", "APPROVED");
  const openAtProvider = await anApplication("COMPLETED", "NEEDS_REVIEW");
  const expired = await anApplication("EXPIRED");
  const [inReview, unchanged] = [await anApplication("COMPLETED", "NEEDS_REVIEW"), await anApplication("COMPLETED", "APPROVED")];
  const unknown = { id: uuidv7(), businessId: uuidv7() };
  for (const application of [decidedAtProvider, openAtProvider]) {
    await addEvent(application, "COMPLETED", "NEEDS_REVIEW", minutesAgo(6));
    await addEvent(application, "COMPLETED", "REJECTED");
  }
  await addEvent(expired, "COMPLETED", "APPROVED");
  await addEvent(inReview, "COMPLETED", "NEEDS_REVIEW");
  await addEvent(unchanged, "COMPLETED", "APPROVED");
  await addEvent(unknown, "EXPIRED");
  await addEvent({ id: uuidv7(), businessId: uuidv7() }, "EXPIRED", undefined, minutesAgo(20));

  const { code, rows } = await restored();
  expect(code).toBe(4);
  const summaries = rows.map(({ id, here, status }) => [id, here, status]).sort();
  expect(summaries).toEqual(
    [
      [decidedAtProvider.id, "NEEDS_REVIEW", "REJECTED"],
      [openAtProvider.id, "NEEDS_REVIEW", "REJECTED"],
      [expired.id, "EXPIRED", "APPROVED"],
      [unknown.id, "unknown", "EXPIRED"],
    ].sort(),
  );
  const due = await kycSql<{ id: string }>("select id from kyc_application where next_check_at <= now() order by id");
  expect(due.map(({ id }) => id)).toEqual([decidedAtProvider.id, openAtProvider.id, expired.id].sort());
  const readEmittedEvents = () =>
    kycSql<{ key: string; type: string }>("select key, headers ->> 'ce_type' as type from outbox where topic = 'kyc.v1'");
  expect(await readEmittedEvents()).toEqual([{ key: decidedAtProvider.id, type: "kyc.v1.KycNeedsReview" }]);
  expect(await kycSql("select 1 from outbox where topic = 'audit.v1'")).toHaveLength(1);

  // Adds KYC_NEEDS_REVIEW to webhooks, as if webhooks had consumed the emitted event.
  await addEvent(decidedAtProvider, "COMPLETED", "NEEDS_REVIEW", minutesAgo(1));
  const secondRun = await restored();
  expect(secondRun.rows.map(({ id }) => id).sort()).toEqual([openAtProvider.id, expired.id, unknown.id].sort());
  expect(await readEmittedEvents()).toHaveLength(1);
});
