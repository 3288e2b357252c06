import { ClientKycStatus } from "@amana/contracts/clients/v1/client_pb";
import { OnboardingStep } from "@amana/contracts/clients/v1/onboarding_pb";
import { enumName } from "@amana/contracts/enum-names";
import { type KycEvent, KycEventSchema, KycEventType } from "@amana/contracts/kyc/v1/kyc_events_pb";
import type { Message } from "@amana/messaging";
import { uuidv7 } from "@amana/runtime";
import { aBusinessCaller } from "@amana/testing";
import { fromBinary, toBinary } from "@bufbuild/protobuf";
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { aKycEvent, type KycNews } from "../../test/a-kyc-event.ts";
import { aDetailsRequest, type Harness, startHarness } from "../../test/harness.ts";

let harness: Harness;
beforeAll(async () => {
  harness = await startHarness();
});
afterAll(() => harness[Symbol.asyncDispose]());

const aClient = async () => {
  const caller = aBusinessCaller();
  const { id: clientId } = await harness.createPerson(caller);
  await harness.onboarding.createOnboardingDetails({ clientId, ...aDetailsRequest() }, { caller });
  const seen = async () => {
    const { currentStep, kycStatus, kycApplicationId, kycApplicationOpen } = await harness.onboarding.getOnboarding(
      { clientId },
      { caller },
    );
    const client = await harness.clients.getClient({ id: clientId }, { caller });
    expect(client.kycStatus).toBe(kycStatus);
    return [enumName(OnboardingStep, currentStep), enumName(ClientKycStatus, kycStatus), kycApplicationId, kycApplicationOpen];
  };
  return { caller, clientId, news: { businessId: caller.businessId, clientId }, seen };
};

test("an application's events move the onboarding and the client together", async () => {
  const { news, seen } = await aClient();
  const applicationId = uuidv7();
  const happens = async (changes: Partial<KycNews>) => {
    await harness.publish(aKycEvent({ ...news, applicationId, ...changes }));
    return await seen();
  };
  expect(await happens({ revision: 1 })).toEqual(["KYC_PENDING", "CREATED", applicationId, true]);
  expect(await happens({ revision: 2, status: "OPENED" })).toEqual(["KYC_PROCESSING", "PROCESSING", applicationId, true]);
  expect(await happens({ revision: 3, status: "FAILED", attemptsRemaining: 1 })).toEqual([
    "KYC_PROCESSING",
    "PROCESSING",
    applicationId,
    true,
  ]);
  expect(await happens({ revision: 4, status: "FAILED", attemptsRemaining: 0 })).toEqual([
    "KYC_PENDING",
    "ABORTED",
    applicationId,
    false,
  ]);
  expect(await happens({ revision: 5, status: "COMPLETED", verdict: "NEEDS_REVIEW" })).toEqual([
    "KYC_UNDER_REVIEW",
    "PENDING_REVIEW",
    applicationId,
    false,
  ]);
  expect(await happens({ revision: 6, status: "COMPLETED", verdict: "APPROVED" })).toEqual([
    "PENDING_APPROVAL",
    "VALIDATED",
    applicationId,
    false,
  ]);
  const notice = { revision: 7, status: "COMPLETED", verdict: "APPROVED", type: KycEventType.KYC_DOCUMENT_EXPIRING } as const;
  expect(await happens(notice)).toEqual(["PENDING_APPROVAL", "VALIDATED", applicationId, false]);
});

test("any order, with repetitions, in batches of any size, leaves the state of the newest application's newest event", async () => {
  const statuses = ["CREATED", "OPENED", "COMPLETED", "EXPIRED", "CANCELED", "FAILED"] as const;
  const news = fc.record({
    application: fc.integer({ min: 0, max: 2 }),
    revision: fc.integer({ min: 1, max: 4 }),
    status: fc.constantFrom(...statuses),
    verdict: fc.constantFrom("APPROVED", "NEEDS_REVIEW", "REJECTED"),
    attemptsRemaining: fc.integer({ min: 0, max: 1 }),
  });
  const playing = fc
    .uniqueArray(news, { minLength: 2, maxLength: 8, selector: ({ application, revision }) => `${application}.${revision}` })
    .chain((all) =>
      fc.record({
        all: fc.constant(all),
        first: fc.shuffledSubarray(all),
        second: fc.shuffledSubarray(all, { minLength: all.length }),
      }),
    );

  await fc.assert(
    fc.asyncProperty(playing, fc.integer({ min: 1, max: 5 }), async ({ all, first, second }, batch) => {
      const ids = [uuidv7(), uuidv7(), uuidv7()].sort();
      // The second and the third were created in the same millisecond.
      const createdAtMs = (application: number) => Date.parse("2026-11-20T10:00:00Z") + (application > 0 ? 1 : 0);
      const eventOf = (client: { news: KycNews }) => {
        const made = new Map<unknown, Message>();
        return (one: (typeof all)[number]) => {
          const { application, verdict, ...rest } = one;
          const known = made.get(one);
          const event =
            known ??
            aKycEvent({
              ...client.news,
              ...rest,
              applicationId: ids[application] as string,
              createdAtMs: createdAtMs(application),
              verdict: one.status === "COMPLETED" ? verdict : "UNSPECIFIED",
            });
          made.set(one, event);
          return event;
        };
      };
      const inOrder = all.toSorted((a, b) => a.application - b.application || a.revision - b.revision);
      const [expected, played] = [await aClient(), await aClient()];
      for (const one of inOrder) await harness.publish(eventOf(expected)(one));
      const event = eventOf(played);
      const messages = [...first, ...second, ...first].map(event);
      for (let start = 0; start < messages.length; start += batch) await harness.publish(...messages.slice(start, start + batch));
      // The whole topic once more, as if none of it had been seen.
      await harness.sql("delete from inbox");
      await harness.publish(...messages.toReversed());
      expect(await played.seen()).toEqual(await expected.seen());
    }),
    { numRuns: 25 },
  );
});

test("events of many clients in one batch, and batches at the same time, all take effect", async () => {
  const clients = await Promise.all(Array.from({ length: 6 }, aClient));
  const opened = clients.map(({ news }) => aKycEvent({ ...news, revision: 2, status: "OPENED" }));
  await Promise.all([
    harness.publish(...opened.slice(0, 4)),
    harness.publish(...opened.slice(2).reverse()),
    harness.publish(...clients.map(({ news }) => aKycEvent({ ...news, createdAtMs: 1 })).reverse()),
  ]);
  for (const { seen } of clients) expect(await seen()).toEqual(expect.arrayContaining(["KYC_PROCESSING", "PROCESSING"]));
});

test("events of clients whose details are saved at the same moment take effect with them", async () => {
  const clients = await Promise.all(
    Array.from({ length: 8 }, async () => {
      const caller = aBusinessCaller();
      return { caller, clientId: (await harness.createPerson(caller)).id };
    }),
  );
  await Promise.all(
    clients.flatMap(({ caller, clientId }) => [
      harness.publish(aKycEvent({ ...caller, clientId, status: "OPENED" })),
      harness.onboarding.createOnboardingDetails({ clientId, ...aDetailsRequest() }, { caller }),
    ]),
  );
  for (const { caller, clientId } of clients) {
    expect(await harness.onboarding.getOnboarding({ clientId }, { caller })).toMatchObject({
      currentStep: OnboardingStep.KYC_PROCESSING,
      kycStatus: ClientKycStatus.PROCESSING,
    });
  }
});

test("a verification that is about no client is nothing to this service", async () => {
  const event = aKycEvent({ businessId: uuidv7() });
  await harness.publish(event);
  expect(await harness.sql("select 1 from dead_letter where event_id = ?", [event.headers["ce_id"]])).toEqual([]);
});

test("clients stores an event of a missing or another business's client as a dead letter and applies the other events", async () => {
  const { news, clientId, seen } = await aClient();
  const broken = [
    aKycEvent({ ...news, clientId: uuidv7() }),
    aKycEvent({ businessId: uuidv7(), clientId }),
    aKycEvent({ ...news, clientId: "nonsense" }),
    aKycEvent({ ...news, status: "UNSPECIFIED" }),
    { ...aKycEvent(news), payload: new Uint8Array() },
  ];
  const good = aKycEvent({ ...news, status: "OPENED" });
  for (const one of broken.slice(1)) await harness.publish(one, aKycEvent((await aClient()).news));
  await harness.publish(broken[0] as Message, good);
  expect(await seen()).toEqual(["KYC_PROCESSING", "PROCESSING", good.key, true]);
  const parked = await harness.sql<{ event_id: string }>("select event_id from dead_letter");
  expect(parked.map(({ event_id }) => event_id).sort()).toEqual(broken.map(({ headers }) => headers["ce_id"]).sort());
});

test.each([
  ["status", (event: KycEvent) => Object.assign(event.application ?? {}, { status: 99 })],
  ["verdict", (event: KycEvent) => Object.assign(event.application ?? {}, { verdict: 99 })],
] as const)("an event with a %s that only a newer version knows waits for that version", async (_name, change) => {
  const { news, seen } = await aClient();
  const applicationId = uuidv7();
  await harness.publish(aKycEvent({ ...news, applicationId }));
  const message = aKycEvent({ ...news, applicationId, revision: 2, status: "COMPLETED", verdict: "APPROVED" });
  const event = fromBinary(KycEventSchema, message.payload);
  change(event);
  await harness.publish({ ...message, payload: toBinary(KycEventSchema, event) });
  expect(await seen()).toEqual(["KYC_PENDING", "CREATED", applicationId, true]);
  const waiting = await harness.sql("select status from dead_letter where event_id = ?", [message.headers["ce_id"]]);
  expect(waiting).toEqual([{ status: "WAITING" }]);
});

test("client_id in capitals is the same client", async () => {
  const { news, clientId, seen } = await aClient();
  await harness.publish(aKycEvent({ ...news, clientId: clientId.toUpperCase() }));
  expect(await seen()).toContain("CREATED");
});

test("updated_at of a client moves with its verification, not with the repetition", async () => {
  const { caller, clientId, news } = await aClient();
  const read = async () => (await harness.clients.getClient({ id: clientId }, { caller })).updatedAtMs;
  harness.clock.nowMs = Date.now() + 60_000;
  const applicationId = uuidv7();
  await harness.publish(aKycEvent({ ...news, applicationId, revision: 2, status: "OPENED" }));
  const moved = await read();
  expect(moved).toBe(BigInt(harness.clock.nowMs));
  harness.clock.nowMs += 60_000;
  await harness.publish(aKycEvent({ ...news, applicationId, revision: 3, status: "SUBMITTED" }));
  await harness.publish(aKycEvent({ ...news, applicationId, revision: 1 }));
  expect(await read()).toBe(moved);
  harness.clock.nowMs = undefined;
});

test("with automatic approval a verified client is let in at once, on the record; without details it waits for them", async () => {
  await using automatic = await startHarness({ autoApprove: true });
  const caller = aBusinessCaller();
  const { id: clientId } = await automatic.createPerson(caller);
  const status = () => automatic.onboarding.getOnboarding({ clientId }, { caller });
  await automatic.publish(aKycEvent({ ...caller, clientId, status: "COMPLETED", verdict: "APPROVED", revision: 2 }));
  expect(await status()).toMatchObject({ currentStep: OnboardingStep.DETAILS_PENDING });
  await automatic.onboarding.createOnboardingDetails({ clientId, ...aDetailsRequest() }, { caller });
  const approved = await status();
  expect(approved).toMatchObject({ currentStep: OnboardingStep.APPROVED, kycStatus: ClientKycStatus.VALIDATED });
  expect(await automatic.audited(approved.id)).toMatchObject([{ actor: "platform", action: "onboarding.approved" }]);

  const second = await automatic.createPerson(caller);
  await automatic.onboarding.createOnboardingDetails({ clientId: second.id, ...aDetailsRequest() }, { caller });
  await automatic.publish(aKycEvent({ ...caller, clientId: second.id, status: "COMPLETED", verdict: "APPROVED", revision: 2 }));
  expect(await automatic.onboarding.getOnboarding({ clientId: second.id }, { caller })).toMatchObject({
    currentStep: OnboardingStep.APPROVED,
  });
});
