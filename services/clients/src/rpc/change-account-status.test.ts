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
const changeStatus = (verb: Verb, id: string, options: object = { caller }) =>
  harness.accounts[`${verb}Account`]({ id }, options as { caller: typeof caller });
const readAccount = (id: string) => harness.accounts.getAccount({ id }, { caller });

const stepsTo: Record<Status, readonly Verb[]> = {
  PENDING: [],
  ACTIVE: ["activate"],
  SUSPENDED: ["activate", "suspend"],
  CLOSED: ["activate", "close"],
};
const transitions: Record<Verb, readonly [from: readonly Status[], to: Status]> = {
  activate: [["PENDING"], "ACTIVE"],
  suspend: [["ACTIVE"], "SUSPENDED"],
  reactivate: [["SUSPENDED"], "ACTIVE"],
  close: [["PENDING", "ACTIVE", "SUSPENDED"], "CLOSED"],
};

/** Creates an account with the given status. Its client needs no verification. */
async function anAccountWith(status: Status) {
  const { id: clientId } = await harness.createPerson(caller, { kycLevel: KycLevel.NOT_REQUIRED });
  const { id } = await harness.openAccount(caller, { clientId });
  for (const verb of stepsTo[status]) await changeStatus(verb, id);
  return id;
}

const pairs = (Object.keys(transitions) as Verb[]).flatMap((verb) =>
  (Object.keys(stepsTo) as Status[]).map((from) => ({
    verb,
    from,
    to: transitions[verb][1],
    isAllowed: transitions[verb][0].includes(from),
  })),
);

describe("account status", () => {
  test.each(pairs.filter(({ isAllowed }) => isAllowed))(
    "the RPC to $verb an account changes the status from $from to $to",
    async ({ verb, from, to }) => {
      const id = await anAccountWith(from);
      const accountBefore = await readAccount(id);
      const nowMs = Number(accountBefore.updatedAtMs) + 60_000;
      harness.clock.nowMs = nowMs;
      const changedAccount = await changeStatus(verb, id);
      const closedAtMs = verb === "close" ? BigInt(nowMs) : undefined;
      expect(changedAccount).toEqual({ ...accountBefore, status: AccountStatus[to], updatedAtMs: BigInt(nowMs), closedAtMs });
      expect(await readAccount(id)).toEqual(changedAccount);
    },
  );

  test.each(pairs.filter(({ isAllowed }) => !isAllowed))(
    "the RPC to $verb an account throws invalid_status_transition for an account in the status $from",
    async ({ verb, from }) => {
      const id = await anAccountWith(from);
      const accountBefore = await readAccount(id);
      expect(await refusal(changeStatus(verb, id))).toMatchObject({
        kind: "conflict",
        code: "invalid_status_transition",
        members: { account_status: from },
      });
      expect(await readAccount(id)).toEqual(accountBefore);
    },
  );

  test("activateAccount accepts only one of four concurrent requests", async () => {
    const id = await anAccountWith("PENDING");
    const results = await Promise.allSettled([1, 2, 3, 4].map(() => changeStatus("activate", id)));
    expect(results.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    for (const result of results) {
      if (result.status === "rejected") expect(result.reason).toMatchObject({ code: "invalid_status_transition" });
    }
  });

  test.each(["activate", "suspend", "reactivate", "close"] as const)(
    "%sAccount returns the stored response for a repeated Idempotency-Key",
    async (verb) => {
      const id = await anAccountWith(transitions[verb][0][0] as Status);
      const [firstOptions, secondOptions] = [withIdempotencyKey(caller, `k-${verb}`), withIdempotencyKey(caller, `k-${verb}`)];
      const changedAccount = await changeStatus(verb, id, firstOptions);
      expect(await changeStatus(verb, id, secondOptions)).toEqual(changedAccount);
      expect([firstOptions.replayed, secondOptions.replayed]).toEqual([false, true]);
    },
  );
});

describe("activateAccount", () => {
  test("activateAccount rejects an account until its client has the KYC status VALIDATED", async () => {
    const { id: clientId } = await harness.createPerson(caller);
    const { id } = await harness.openAccount(caller, { clientId });
    const statuses = ["NOT_STARTED", "CREATED", "PROCESSING", "PENDING_REVIEW", "DECLINED", "ABORTED"];
    for (const status of statuses) {
      await harness.sql("update client set kyc_status = ? where id = ?", [status, clientId]);
      expect(await refusal(changeStatus("activate", id))).toMatchObject({ kind: "conflict", code: "client_not_verified" });
    }
    expect((await readAccount(id)).status).toBe(AccountStatus.PENDING);
    await harness.sql("update client set kyc_status = 'VALIDATED' where id = ?", [clientId]);
    expect((await changeStatus("activate", id)).status).toBe(AccountStatus.ACTIVE);
  });

  test("activateAccount rejects the account of a blocked client, but suspendAccount and reactivateAccount accept this account", async () => {
    const { id: clientId } = await harness.createPerson(caller, { kycLevel: KycLevel.NOT_REQUIRED });
    const [activeAccount, pendingAccount] = [
      await harness.openAccount(caller, { clientId }),
      await harness.openAccount(caller, { clientId }),
    ];
    await changeStatus("activate", activeAccount.id);
    await harness.clients.updatePerson({ id: clientId, blocked: true }, { caller });
    expect(await refusal(changeStatus("activate", pendingAccount.id))).toMatchObject({
      kind: "conflict",
      code: "client_blocked",
      pointer: "",
    });
    expect((await changeStatus("suspend", activeAccount.id)).status).toBe(AccountStatus.SUSPENDED);
    expect((await changeStatus("reactivate", activeAccount.id)).status).toBe(AccountStatus.ACTIVE);
  });

  test("activateAccount waits for a concurrent transaction that blocks the client, and then throws client_blocked", async () => {
    const { id: clientId } = await harness.createPerson(caller, { kycLevel: KycLevel.NOT_REQUIRED });
    const { id } = await harness.openAccount(caller, { clientId });
    let activation: Promise<unknown> | undefined;
    await harness.transaction(async (em) => {
      (await lockRow(em, Client, allBusinesses, clientId, clientNotFound)).change({ blocked: true }, new Date());
      await em.flush();
      activation = refusal(changeStatus("activate", id));
      await harness.waitForLockedSessions();
    });
    expect(await activation).toMatchObject({ code: "client_blocked" });
    expect((await readAccount(id)).status).toBe(AccountStatus.PENDING);
  });
});

describe("closeAccount", () => {
  test.each(["CREDIT", "HOLD"] as const)(
    "closeAccount rejects an account that has a balance after a %s, and closes the account when all its balances are zero",
    async (kind) => {
      const id = await anAccountWith("ACTIVE");
      const postTo = (order: Parameters<typeof post>[3]) =>
        harness.transaction((em) => post(em, caller.businessId, id, order, new Date()));
      await postTo({ kind: "CREDIT", amountMinor: 100n, reference: "in" });
      const hold = kind === "HOLD" ? await postTo({ kind, amountMinor: 100n, reference: "hold" }) : undefined;
      expect(await refusal(changeStatus("close", id))).toMatchObject({ kind: "conflict", code: "account_balance_not_zero" });
      expect((await readAccount(id)).status).toBe(AccountStatus.ACTIVE);
      if (hold) await postTo({ kind: "CAPTURE", holdId: hold.id, reference: "out" });
      else await postTo({ kind: "DEBIT", amountMinor: 100n, reference: "out" });
      expect((await changeStatus("close", id)).status).toBe(AccountStatus.CLOSED);
    },
  );
});

describe.each(["activate", "suspend", "reactivate", "close"] as const)("%s", (verb) => {
  test(`${verb}Account throws the same error not_found for another business's account, an unknown id and a malformed id`, async () => {
    const id = await anAccountWith(transitions[verb][0][0] as Status);
    const accountBefore = await readAccount(id);
    for (const accountId of [id, uuidv7(), "no id", ""]) {
      const error = refusal(changeStatus(verb, accountId, { caller: aBusinessCaller() }));
      expect(await error).toMatchObject({
        kind: "not_found",
        code: "not_found",
        message: "There is no account with this id. Check the id.",
      });
    }
    expect(await readAccount(id)).toEqual(accountBefore);
  });

  test(`${verb}Account rejects an operator's key`, async () => {
    const error = refusal(changeStatus(verb, uuidv7(), { caller: adminCaller }));
    expect(await error).toMatchObject({ code: "business_key_required" });
  });
});
