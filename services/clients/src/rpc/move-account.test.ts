import { AccountStatus } from "@amana/contracts/clients/v1/account_pb";
import { KycLevel } from "@amana/contracts/clients/v1/client_pb";
import { allBusinesses, lockRow } from "@amana/database";
import { uuidv7 } from "@amana/runtime";
import { aBusinessCaller, adminCaller, refusal, withIdempotencyKey } from "@amana/testing";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { type Harness, startHarness } from "../../test/harness.ts";
import { post } from "../account/post.ts";
import { clientNotFound } from "../client/client.errors.ts";
import { Client } from "../client/client.ts";

let harness: Harness;
const caller = aBusinessCaller();
beforeAll(async () => {
  harness = await startHarness();
});
afterEach(() => {
  harness.clock.nowMs = undefined;
});
afterAll(() => harness[Symbol.asyncDispose]());

type Verb = "activate" | "suspend" | "reactivate" | "close";
type Status = "PENDING" | "ACTIVE" | "SUSPENDED" | "CLOSED";
const move = (verb: Verb, id: string, options: object = { caller }) =>
  harness.accounts[`${verb}Account`]({ id }, options as { caller: typeof caller });
const read = (id: string) => harness.accounts.getAccount({ id }, { caller });

const wayTo: Record<Status, readonly Verb[]> = {
  PENDING: [],
  ACTIVE: ["activate"],
  SUSPENDED: ["activate", "suspend"],
  CLOSED: ["activate", "close"],
};
const goals: Record<Verb, readonly [from: readonly Status[], to: Status]> = {
  activate: [["PENDING"], "ACTIVE"],
  suspend: [["ACTIVE"], "SUSPENDED"],
  reactivate: [["SUSPENDED"], "ACTIVE"],
  close: [["PENDING", "ACTIVE", "SUSPENDED"], "CLOSED"],
};

/** An account of a client who needs no verification, brought to a status. */
async function anAccountThatIs(status: Status) {
  const { id: clientId } = await harness.createPerson(caller, { kycLevel: KycLevel.NOT_REQUIRED });
  const { id } = await harness.openAccount(caller, { clientId });
  for (const verb of wayTo[status]) await move(verb, id);
  return id;
}

const pairs = (Object.keys(goals) as Verb[]).flatMap((verb) =>
  (Object.keys(wayTo) as Status[]).map((from) => ({ verb, from, to: goals[verb][1], isAllowed: goals[verb][0].includes(from) })),
);

describe("the status of an account", () => {
  test.each(pairs.filter(({ isAllowed }) => isAllowed))("$verb: $from → $to", async ({ verb, from, to }) => {
    const id = await anAccountThatIs(from);
    const before = await read(id);
    const nowMs = Number(before.updatedAtMs) + 60_000;
    harness.clock.nowMs = nowMs;
    const moved = await move(verb, id);
    const closedAtMs = verb === "close" ? BigInt(nowMs) : undefined;
    expect(moved).toEqual({ ...before, status: AccountStatus[to], updatedAtMs: BigInt(nowMs), closedAtMs });
    expect(await read(id)).toEqual(moved);
  });

  test.each(pairs.filter(({ isAllowed }) => !isAllowed))("$verb: refused from $from", async ({ verb, from }) => {
    const id = await anAccountThatIs(from);
    const before = await read(id);
    expect(await refusal(move(verb, id))).toMatchObject({
      kind: "conflict",
      code: "invalid_status_transition",
      members: { account_status: from },
    });
    expect(await read(id)).toEqual(before);
  });

  test("is moved once by several at the same time", async () => {
    const id = await anAccountThatIs("PENDING");
    const results = await Promise.allSettled([1, 2, 3, 4].map(() => move("activate", id)));
    expect(results.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    for (const result of results) {
      if (result.status === "rejected") expect(result.reason).toMatchObject({ code: "invalid_status_transition" });
    }
  });

  test.each(["activate", "suspend", "reactivate", "close"] as const)("%s with one Idempotency-Key happens once", async (verb) => {
    const id = await anAccountThatIs(goals[verb][0][0] as Status);
    const [first, second] = [withIdempotencyKey(caller, `k-${verb}`), withIdempotencyKey(caller, `k-${verb}`)];
    const moved = await move(verb, id, first);
    expect(await move(verb, id, second)).toEqual(moved);
    expect([first.replayed, second.replayed]).toEqual([false, true]);
  });
});

describe("activation", () => {
  test("is for a client whom a verification found good", async () => {
    const { id: clientId } = await harness.createPerson(caller);
    const { id } = await harness.openAccount(caller, { clientId });
    const statuses = ["NOT_STARTED", "CREATED", "PROCESSING", "PENDING_REVIEW", "DECLINED", "ABORTED"];
    for (const status of statuses) {
      await harness.sql("update client set kyc_status = ? where id = ?", [status, clientId]);
      expect(await refusal(move("activate", id))).toMatchObject({ kind: "conflict", code: "client_not_verified" });
    }
    expect((await read(id)).status).toBe(AccountStatus.PENDING);
    await harness.sql("update client set kyc_status = 'VALIDATED' where id = ?", [clientId]);
    expect((await move("activate", id)).status).toBe(AccountStatus.ACTIVE);
  });

  test("is not for a blocked client; what is active stays so", async () => {
    const { id: clientId } = await harness.createPerson(caller, { kycLevel: KycLevel.NOT_REQUIRED });
    const [early, late] = [await harness.openAccount(caller, { clientId }), await harness.openAccount(caller, { clientId })];
    await move("activate", early.id);
    await harness.clients.updatePerson({ id: clientId, blocked: true }, { caller });
    expect(await refusal(move("activate", late.id))).toMatchObject({
      kind: "conflict",
      code: "client_blocked",
      pointer: "",
    });
    expect((await move("suspend", early.id)).status).toBe(AccountStatus.SUSPENDED);
    expect((await move("reactivate", early.id)).status).toBe(AccountStatus.ACTIVE);
  });

  test("waits for a block that is under way, and is refused then", async () => {
    const { id: clientId } = await harness.createPerson(caller, { kycLevel: KycLevel.NOT_REQUIRED });
    const { id } = await harness.openAccount(caller, { clientId });
    let activation: Promise<unknown> | undefined;
    await harness.transaction(async (em) => {
      (await lockRow(em, Client, allBusinesses, clientId, clientNotFound)).change({ blocked: true }, new Date());
      await em.flush();
      activation = refusal(move("activate", id));
      await harness.untilSomeoneWaits();
    });
    expect(await activation).toMatchObject({ code: "client_blocked" });
    expect((await read(id)).status).toBe(AccountStatus.PENDING);
  });
});

describe("closing", () => {
  test.each(["CREDIT", "HOLD"] as const)(
    "is refused while there is money after a %s, and possible once there is none",
    async (kind) => {
      const id = await anAccountThatIs("ACTIVE");
      const postTo = (order: Parameters<typeof post>[3]) =>
        harness.transaction((em) => post(em, caller.businessId, id, order, new Date()));
      await postTo({ kind: "CREDIT", amountMinor: 100n, reference: "in" });
      const hold = kind === "HOLD" ? await postTo({ kind, amountMinor: 100n, reference: "hold" }) : undefined;
      expect(await refusal(move("close", id))).toMatchObject({ kind: "conflict", code: "account_balance_not_zero" });
      expect((await read(id)).status).toBe(AccountStatus.ACTIVE);
      if (hold) await postTo({ kind: "CAPTURE", holdId: hold.id, reference: "out" });
      else await postTo({ kind: "DEBIT", amountMinor: 100n, reference: "out" });
      expect((await move("close", id)).status).toBe(AccountStatus.CLOSED);
    },
  );
});

describe.each(["activate", "suspend", "reactivate", "close"] as const)("%s", (verb) => {
  test("of another business's account is refused like that of an unknown one", async () => {
    const id = await anAccountThatIs(goals[verb][0][0] as Status);
    const before = await read(id);
    for (const other of [id, uuidv7(), "no id", ""]) {
      const refused = refusal(move(verb, other, { caller: aBusinessCaller() }));
      expect(await refused).toMatchObject({ kind: "not_found", code: "not_found", message: "There is no such account." });
    }
    expect(await read(id)).toEqual(before);
  });

  test("is for businesses", async () => {
    const refused = refusal(move(verb, uuidv7(), { caller: adminCaller }));
    expect(await refused).toMatchObject({ code: "business_key_required" });
  });
});
