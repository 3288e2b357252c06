import { eventually } from "@amana/dev-env/eventually";
import { request } from "undici";
import { afterAll, beforeAll, expect, test } from "vitest";
import {
  aBusiness,
  anOrder,
  callSandbox,
  startTestSystem,
  type TestBusiness,
  type TestSystem,
  validCard,
} from "../../src/test-system.ts";

let testSystem: TestSystem;
let businesses: TestBusiness[];
beforeAll(async () => {
  // payments reads each payment again after a few seconds, so that it adopts changes that the test
  // makes in the processor's back office.
  const rereads = "1,2,3,4,5,6,8,10,12,15,20,25,30,40,50,60";
  testSystem = await startTestSystem("direct", {
    payments: { PAYMENT_REREAD_SECONDS: rereads, REFUND_REREAD_SECONDS: rereads },
  });
  businesses = await Promise.all([aBusiness(testSystem.system), aBusiness(testSystem.system, "Autre")]);
});
afterAll(async () => {
  for (const { receiver } of businesses ?? []) await receiver[Symbol.asyncDispose]();
  await testSystem?.[Symbol.asyncDispose]();
});

interface Line {
  readonly type: string;
  readonly payment_id: string;
  readonly processor_order_number: string;
  readonly amount: string;
  readonly running_total: string;
  readonly origin?: string;
}
interface Books {
  readonly movements: readonly { readonly orderNumber: string; readonly amount: number }[];
  readonly total: number;
}

/** Converts an amount with two decimals to centimes. */
const minorOf = (amount: string) => BigInt(amount.replace(".", ""));

async function readStatement({ key }: TestBusiness, from: string, accept = "application/x-ndjson") {
  const to = new Date(Date.now() + 86_400_000).toISOString();
  const url = `${testSystem.system.gatewayUrl}/api/v1/payments/statement?from=${from}&to=${to}`;
  const response = await request(url, { headers: { authorization: `Bearer ${key}`, accept } });
  expect(response.statusCode).toBe(200);
  return { text: await response.body.text(), until: String(response.headers["x-statement-until"]) };
}
const linesOf = (text: string) =>
  text
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line) as Line);

/** Adds the amounts of each order number, in centimes. Omits orders whose sum is 0. */
function sumByOrder(amounts: readonly (readonly [orderNumber: string, minor: bigint])[]): Record<string, bigint> {
  const sums: Record<string, bigint> = {};
  for (const [orderNumber, minor] of amounts) sums[orderNumber] = (sums[orderNumber] ?? 0n) + minor;
  return Object.fromEntries(Object.entries(sums).filter(([, sum]) => sum !== 0n));
}

/**
 * Creates a payment and pays it with a valid or a blocked card. Then makes the refunds or the
 * reversal of one of eight scenarios, which `index` selects. Two scenarios have neither.
 */
async function playScenario(business: TestBusiness, index: number): Promise<void> {
  const { system } = testSystem;
  const amount = `${5_000 + index}.${String(index).padStart(2, "0")}`;
  const payment = await business.amana.payments.create({ ...anOrder, amount, order_ref: `=1+${index}` });
  const inBackOffice = (action: string, body: object = {}) =>
    callSandbox(system, "POST", `/sandbox/payments/${payment.processor_order_id}/${action}`, body);
  const card = index % 8 === 7 ? { pan: "6280581110006712", expiry: "01/2027", cvv2: "897", password: "123456" } : validCard;
  const { redirect_url } = (await inBackOffice("pay", card)) as { redirect_url: string };
  await (await request(redirect_url, { headersTimeout: 20_000 })).body.dump();
  const changes: (() => Promise<unknown>)[] = [
    async () => undefined,
    () => business.amana.payments.refund(payment.id),
    () => business.amana.payments.refund(payment.id, { amount: "1234.56" }),
    () => inBackOffice("refund"),
    async () => {
      await inBackOffice("refund", { amount: "0.01" });
      await inBackOffice("refund", { amount: "99.99" });
    },
    async () => {
      await business.amana.payments.refund(payment.id, { amount: "1000.00" });
      await inBackOffice("refund", { amount: "500.50" });
    },
    () => inBackOffice("reverse"),
  ];
  await changes[index % 8]?.();
}

test("payment statements equal the processor's records to the centime, and consecutive statements contain each line once", async () => {
  const start = new Date(Date.now() - 60_000).toISOString();
  let isDone = false;
  /** Reads statements until `isDone`. Each statement starts at the previous statement's end. */
  const readConsecutively = async (business: TestBusiness) => {
    const lines: Line[] = [];
    for (let from = start, isLast = false; !isLast; ) {
      isLast = isDone;
      const { text, until } = await readStatement(business, from);
      lines.push(...linesOf(text));
      from = until;
    }
    return lines;
  };
  const consecutive = businesses.map((business) => readConsecutively(business));
  for (let index = 0; index < 16; index += 4) {
    await Promise.all(businesses.flatMap((business) => [0, 1, 2, 3].map((offset) => playScenario(business, index + offset))));
  }

  await eventually(async () => {
    const statements = await Promise.all(
      businesses.map(async (business) => linesOf((await readStatement(business, start)).text)),
    );
    const books = (await callSandbox(testSystem.system, "GET", "/sandbox/money-movements")) as Books;
    const lines = statements.flat();
    expect(sumByOrder(lines.map((line) => [line.processor_order_number, minorOf(line.amount)]))).toEqual(
      sumByOrder(books.movements.map(({ orderNumber, amount }) => [orderNumber, BigInt(amount)])),
    );
    const totals = statements.map((statement) => minorOf(statement.at(-1)?.running_total ?? "0"));
    expect(totals.reduce((sum, total) => sum + total, 0n)).toBe(BigInt(books.total));
  });
  isDone = true;
  const byBusiness = await Promise.all(consecutive);
  for (const [i, business] of businesses.entries()) {
    const { text } = await readStatement(business, start);
    const lines = linesOf(text);
    const withoutTotal = (all: readonly Line[]) => all.map(({ running_total: _, ...line }) => line);
    expect(withoutTotal(byBusiness[i] ?? [])).toEqual(withoutTotal(lines));
    expect(lines.filter(({ type }) => type === "PAYMENT")).toHaveLength(14);
    expect(new Set(lines.map(({ type, origin }) => `${type} ${origin ?? ""}`))).toEqual(
      new Set(["PAYMENT ", "REFUND ", "REFUND PROCESSOR", "REVERSAL PROCESSOR"]),
    );
    let total = 0n;
    for (const line of lines) {
      total += minorOf(line.amount);
      expect(minorOf(line.running_total)).toBe(total);
    }
    const csv = (await readStatement(business, start, "text/csv")).text.split("\r\n");
    expect(csv).toHaveLength(lines.length + 2);
    expect(csv.slice(1, -1).map((record) => record.split(",").slice(6, 8))).toEqual(
      lines.map(({ amount, running_total }) => [amount, running_total]),
    );
    expect(csv[1]).toMatch(/,'=1\+\d+,/);
  }
});
