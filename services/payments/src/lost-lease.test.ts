import { withLease } from "@amana/jobs";
import { forTenant } from "@amana/runtime";
import { aBusinessCaller, withIdempotencyKey } from "@amana/testing";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { aPaymentRequest, type Harness, noLease, startHarness } from "../test/harness.ts";
import type { CardProcessor } from "./card-processor/card-processor.ts";
import type { Context } from "./context.ts";
import { Payment } from "./payment/payment.ts";
import { settlePayment } from "./payment/settle-payment.ts";

let harness: Harness;
beforeAll(async () => {
  harness = await startHarness({ satimTimeoutMs: 2_000 });
});
afterAll(() => harness[Symbol.asyncDispose]());

let caller: ReturnType<typeof aBusinessCaller>;
beforeEach(() => {
  caller = aBusinessCaller();
});

const leaseOf = (id: string) => ({ table: "payment", where: "id = ?", values: [id], hasVersion: true });
/** Simulates a process that was frozen until its lease expired. */
const expireLease = (id: string) =>
  harness.sql("update payment set leased_until = now() - interval '1 second' where id = ?", [id]);
const readToken = async (id: string) =>
  (await harness.sql<{ token: string | null }>("select lease_token as token from payment where id = ?", [id]))[0]?.token;

/** Settles a payment under a new lease, like the reconciler. */
const settleUnderLease = (id: string, processor: CardProcessor) =>
  withLease(harness.context.orm, leaseOf(id), (lease) => {
    const payment = harness.context.orm.em.fork().map(Payment, lease.row);
    const options = { confirmFirst: false, remainingMs: () => 3_000, requestedAt: lease.since };
    return settlePayment({ ...harness.context, processor }, payment, lease, options);
  });

describe("a process that has lost its lease", () => {
  test("settlePayment does not release the lease of another process after it has lost its own lease", async () => {
    const { id, processorOrderId } = await harness.aPendingPayment(caller);
    await harness.sandbox.pay(processorOrderId);
    const { orm } = harness.context;
    await forTenant(caller.businessId, () =>
      withLease(orm, leaseOf(id), async (lease) => {
        const payment = orm.em.fork().map(Payment, lease.row);
        await expireLease(id);
        await withLease(orm, leaseOf(id), async ({ token }) => {
          await settlePayment(harness.context, payment, lease, {
            confirmFirst: true,
            remainingMs: () => 5_000,
            requestedAt: lease.since,
          });
          expect(await readToken(id)).toBe(token);
        });
      }),
    );
    expect((await harness.stored(id)).status).toBe("PAID");
  });

  test("createPayment keeps the payment PENDING if it has lost its lease and the reconciler has registered the same order number", async () => {
    const context = harness.context as { -readonly [K in keyof Context]: Context[K] };
    const { processor } = context;
    const [begun, resumed] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    context.processor = {
      ...processor,
      register: async (...args) => {
        begun.resolve();
        await resumed.promise;
        return await processor.register(...args);
      },
    };
    const creation = harness.payments
      .createPayment(aPaymentRequest, withIdempotencyKey(caller, "a"))
      .catch((error: unknown) => error);
    await begun.promise;
    context.processor = processor;
    const [row] = await harness.sql<{ id: string }>("select id from payment where business_id = ?", [caller.businessId]);
    const id = row?.id ?? "";
    await expireLease(id);
    const unknown = { kind: "unknown", reason: "simulated loss of the response" } as const;
    let statusCalls = 0;
    await forTenant(caller.businessId, () =>
      settleUnderLease(id, {
        ...processor,
        register: async (...args) => {
          await processor.register(...args);
          return unknown;
        },
        status: async (...args) => (statusCalls++ === 0 ? await processor.status(...args) : unknown),
      }),
    );
    resumed.resolve();
    expect(await creation).toMatchObject({ code: "processor_outcome_unknown" });
    expect(await harness.stored(id)).toMatchObject({ status: "PENDING", processorOrderId: null });
    expect(await harness.readEvents(id)).toEqual([]);

    await forTenant(caller.businessId, () => settleUnderLease(id, processor));
    const { orderId } = await harness.sandbox.byNumber((await harness.stored(id)).processorOrderNumber);
    expect((await harness.stored(id)).processorOrderId).toBe(orderId);
  });
});

test("settlePayment records a processor call even if the error text was cut in the middle of a surrogate pair", async () => {
  const { id } = await harness.aPendingPayment(caller);
  const status = async () => ({ kind: "unknown" as const, reason: `${"x".repeat(199)}😀` });
  const context = { ...harness.context, processor: { ...harness.context.processor, status } };
  await forTenant(caller.businessId, async () =>
    settlePayment(context, await harness.stored(id), noLease, {
      confirmFirst: false,
      remainingMs: () => 1_000,
      requestedAt: new Date(),
    }),
  );
  const calls = await harness.sql<{ detail: string }>(
    "select detail from processor_call where payment_id = ? and operation = 'STATUS'",
    [id],
  );
  expect(calls.map(({ detail }) => detail)).toEqual([`${"x".repeat(199)}\uFFFD`]);
});
