import { createOrm } from "@amana/database";
import { allTenants, createLogger, forTenant } from "@amana/runtime";
import { aBusinessCaller } from "@amana/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Harness, noLease, startHarness } from "../../test/harness.ts";
import { database } from "../orm.ts";
import { rereadPayment } from "../payment/reread-payment.ts";
import { fillBatch } from "./fill-money-movements.ts";

let harness: Harness;
let owner: Awaited<ReturnType<typeof createOrm>>;
beforeAll(async () => {
  harness = await startHarness();
  owner = await createOrm({ ...database, url: harness.databaseUrl, poolMax: 1 }, createLogger("test", "silent"));
});
afterAll(async () => {
  await owner.close();
  await harness[Symbol.asyncDispose]();
});

interface Movement {
  readonly id: string;
  readonly at: Date;
  readonly payment_id: string;
  readonly type: string;
  readonly amount_minor: string;
  readonly origin: string | null;
}
const readMovements = () =>
  harness.sql<Movement>("select at, payment_id, type, amount_minor, origin, id from money_movement order by at, id");
const withoutIds = (movements: readonly Movement[]) => movements.map(({ id: _, ...movement }) => movement);

/** Deletes movements, as if the trigger had been created after them. */
async function forget(movements: readonly Movement[]): Promise<void> {
  await owner.em.fork().transactional(async (em) => {
    await em.execute("alter table money_movement disable trigger append_only");
    await em.execute("delete from money_movement where id = any(?::uuid[])", [`{${movements.map(({ id }) => id).join()}}`]);
    await em.execute("alter table money_movement enable always trigger append_only");
  });
}

const reread = (id: string) =>
  forTenant(allTenants, async () => rereadPayment(harness.context, await harness.stored(id), noLease, () => 5_000));

/**
 * Runs `fillBatch` until all movements are inserted. Returns the number of batches with payments.
 */
async function fill(): Promise<number> {
  await harness.sql(
    "insert into money_movement_fill (began_at, after_id) values (now() - interval '1 hour', '00000000-0000-0000-0000-000000000000')",
  );
  let batches = 0;
  while ((await forTenant(allTenants, () => fillBatch(harness.context))) > 0) batches++;
  expect(await harness.sql("select * from money_movement_fill")).toEqual([]);
  return batches;
}

test("fillBatch inserts, for a payment from before migration 0013, each missing money movement once, with the time of that movement", async () => {
  const caller = aBusinessCaller();
  const [ours, external, reversed] = [
    await harness.aFinishedPayment(caller),
    await harness.aFinishedPayment(aBusinessCaller()),
    await harness.aFinishedPayment(caller),
  ];
  await harness.aPendingPayment(caller);
  await harness.aFinishedPayment(caller, { pan: "6280581110006712", expiry: "01/2027", cvv2: "897" });
  await harness.payments.refundPayment({ id: ours.id, amountMinor: 100_000n }, { caller, timeoutMs: 20_000 });
  await harness.sandbox.refundExternally(external.processorOrderId);
  await reread(external.id);
  await harness.sandbox.refundExternally(ours.processorOrderId, "200.00");
  await reread(ours.id);
  await harness.sandbox.reverse(reversed.processorOrderId);
  await reread(reversed.id);
  const movements = await readMovements();
  expect(movements).toHaveLength(7);

  // The trigger may have been created between any two of these changes.
  for (let forgotten = movements.length; forgotten >= 0; forgotten--) {
    await forget(movements.slice(0, forgotten));
    expect(await fill()).toBe(1);
    expect(withoutIds(await readMovements()), `${forgotten} changes before the trigger`).toEqual(withoutIds(movements));
    await forget(await readMovements());
    await restore(movements);
  }
});

test("fillBatch inserts one money movement for several external refunds from before migration 0013, with the time of the last refund", async () => {
  const caller = aBusinessCaller();
  const { id, processorOrderId } = await harness.aFinishedPayment(caller);
  for (const amount of ["10.00", "20.00"]) {
    await harness.sandbox.refundExternally(processorOrderId, amount);
    await reread(id);
  }
  const movements = (await readMovements()).filter(({ payment_id }) => payment_id === id);
  await forget(movements);
  await fill();
  const [payment, , lastRefund] = withoutIds(movements);
  expect(withoutIds((await readMovements()).filter(({ payment_id }) => payment_id === id))).toEqual([
    payment,
    { ...lastRefund, amount_minor: "-3000" },
  ]);
});

/** Inserts deleted movements again with the same ids. */
async function restore(movements: readonly Movement[]): Promise<void> {
  await harness.sql(
    `insert into money_movement (business_id, at, id, payment_id, type, amount_minor, origin)
     select p.business_id, m.at, m.id, m.payment_id, m.type, m.amount_minor, m.origin
     from jsonb_to_recordset(?::jsonb) m (at timestamptz, id uuid, payment_id uuid, type text, amount_minor bigint, origin text)
     join payment p on p.id = m.payment_id`,
    [JSON.stringify(movements)],
  );
}
