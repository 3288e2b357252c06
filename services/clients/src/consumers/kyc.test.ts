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
import { aKycEvent, type KycEventFields } from "../../test/a-kyc-event.ts";
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
  const readStatus = async () => {
    const { currentStep, kycStatus, kycApplicationId, kycApplicationOpen } = await harness.onboarding.getOnboarding(
      { clientId },
      { caller },
    );
    const client = await harness.clients.getClient({ id: clientId }, { caller });
    expect(client.kycStatus).toBe(kycStatus);
    return [enumName(OnboardingStep, currentStep), enumName(ClientKycStatus, kycStatus), kycApplicationId, kycApplicationOpen];
  };
  return { caller, clientId, ids: { businessId: caller.businessId, clientId }, readStatus };
};

test("the KYC consumer of the clients service updates the onboarding's step and the KYC status for each event of an application", async () => {
  const { ids, readStatus } = await aClient();
  const applicationId = uuidv7();
  const publishAndRead = async (changes: Partial<KycEventFields>) => {
    await harness.publish(aKycEvent({ ...ids, applicationId, ...changes }));
    return await readStatus();
  };
  expect(await publishAndRead({ revision: 1 })).toEqual(["KYC_PENDING", "CREATED", applicationId, true]);
  expect(await publishAndRead({ revision: 2, status: "OPENED" })).toEqual(["KYC_PROCESSING", "PROCESSING", applicationId, true]);
  expect(await publishAndRead({ revision: 3, status: "FAILED", attemptsRemaining: 1 })).toEqual([
    "KYC_PROCESSING",
    "PROCESSING",
    applicationId,
    true,
  ]);
  expect(await publishAndRead({ revision: 4, status: "FAILED", attemptsRemaining: 0 })).toEqual([
    "KYC_PENDING",
    "ABORTED",
    applicationId,
    false,
  ]);
  expect(await publishAndRead({ revision: 5, status: "COMPLETED", verdict: "NEEDS_REVIEW" })).toEqual([
    "KYC_UNDER_REVIEW",
    "PENDING_REVIEW",
    applicationId,
    false,
  ]);
  expect(await publishAndRead({ revision: 6, status: "COMPLETED", verdict: "APPROVED" })).toEqual([
    "PENDING_APPROVAL",
    "VALIDATED",
    applicationId,
    false,
  ]);
  const noticeFields = {
    revision: 7,
    status: "COMPLETED",
    verdict: "APPROVED",
    type: KycEventType.KYC_DOCUMENT_EXPIRING,
  } as const;
  expect(await publishAndRead(noticeFields)).toEqual(["PENDING_APPROVAL", "VALIDATED", applicationId, false]);
});

test("the KYC consumer of the clients service stores the state of the newest application's newest event, even if events arrive in another order or repeatedly", async () => {
  const statuses = ["CREATED", "OPENED", "COMPLETED", "EXPIRED", "CANCELED", "FAILED"] as const;
  const eventFields = fc.record({
    application: fc.integer({ min: 0, max: 2 }),
    revision: fc.integer({ min: 1, max: 4 }),
    status: fc.constantFrom(...statuses),
    verdict: fc.constantFrom("APPROVED", "NEEDS_REVIEW", "REJECTED"),
    attemptsRemaining: fc.integer({ min: 0, max: 1 }),
  });
  const deliveries = fc
    .uniqueArray(eventFields, {
      minLength: 2,
      maxLength: 8,
      selector: ({ application, revision }) => `${application}.${revision}`,
    })
    .chain((allFields) =>
      fc.record({
        allFields: fc.constant(allFields),
        firstDelivery: fc.shuffledSubarray(allFields),
        secondDelivery: fc.shuffledSubarray(allFields, { minLength: allFields.length }),
      }),
    );

  await fc.assert(
    fc.asyncProperty(
      deliveries,
      fc.integer({ min: 1, max: 5 }),
      async ({ allFields, firstDelivery, secondDelivery }, batchSize) => {
        const ids = [uuidv7(), uuidv7(), uuidv7()].sort();
        // The second and the third application have the same creation time.
        const createdAtMs = (application: number) => Date.parse("2026-11-20T10:00:00Z") + (application > 0 ? 1 : 0);
        const createEvents = (client: { ids: KycEventFields }) => {
          const events = new Map<unknown, Message>();
          return (fields: (typeof allFields)[number]) => {
            const { application, verdict, ...otherFields } = fields;
            const event =
              events.get(fields) ??
              aKycEvent({
                ...client.ids,
                ...otherFields,
                applicationId: ids[application] as string,
                createdAtMs: createdAtMs(application),
                verdict: fields.status === "COMPLETED" ? verdict : "UNSPECIFIED",
              });
            events.set(fields, event);
            return event;
          };
        };
        const orderedFields = allFields.toSorted((a, b) => a.application - b.application || a.revision - b.revision);
        const [expected, actual] = [await aClient(), await aClient()];
        for (const fields of orderedFields) await harness.publish(createEvents(expected)(fields));
        const messages = [...firstDelivery, ...secondDelivery, ...firstDelivery].map(createEvents(actual));
        for (let start = 0; start < messages.length; start += batchSize)
          await harness.publish(...messages.slice(start, start + batchSize));
        // Empties the inbox, so that the consumer processes all events again.
        await harness.sql("delete from inbox");
        await harness.publish(...messages.toReversed());
        expect(await actual.readStatus()).toEqual(await expected.readStatus());
      },
    ),
    { numRuns: 25 },
  );
});

test("the KYC consumer of the clients service applies the newest event of each client when three concurrent batches contain events of six clients", async () => {
  const clients = await Promise.all(Array.from({ length: 6 }, aClient));
  const openedEvents = clients.map(({ ids }) => aKycEvent({ ...ids, revision: 2, status: "OPENED" }));
  await Promise.all([
    harness.publish(...openedEvents.slice(0, 4)),
    harness.publish(...openedEvents.slice(2).reverse()),
    harness.publish(...clients.map(({ ids }) => aKycEvent({ ...ids, createdAtMs: 1 })).reverse()),
  ]);
  for (const { readStatus } of clients)
    expect(await readStatus()).toEqual(expect.arrayContaining(["KYC_PROCESSING", "PROCESSING"]));
});

test("createOnboardingDetails stores the details and the KYC consumer stores the status when both run at the same time", async () => {
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

test("the KYC consumer of the clients service ignores an event whose application has no client, and dead-letters no message", async () => {
  const event = aKycEvent({ businessId: uuidv7() });
  await harness.publish(event);
  expect(await harness.sql("select 1 from dead_letter where event_id = ?", [event.headers["ce_id"]])).toEqual([]);
});

test("the KYC consumer of the clients service dead-letters an invalid event, and applies the valid event in the same batch", async () => {
  const { ids, clientId, readStatus } = await aClient();
  const invalidEvents = [
    aKycEvent({ ...ids, clientId: uuidv7() }),
    aKycEvent({ businessId: uuidv7(), clientId }),
    aKycEvent({ ...ids, clientId: "no id" }),
    aKycEvent({ ...ids, status: "UNSPECIFIED" }),
    { ...aKycEvent(ids), payload: new Uint8Array() },
  ];
  const validEvent = aKycEvent({ ...ids, status: "OPENED" });
  for (const event of invalidEvents.slice(1)) await harness.publish(event, aKycEvent((await aClient()).ids));
  await harness.publish(invalidEvents[0] as Message, validEvent);
  expect(await readStatus()).toEqual(["KYC_PROCESSING", "PROCESSING", validEvent.key, true]);
  const deadLetters = await harness.sql<{ event_id: string }>("select event_id from dead_letter");
  expect(deadLetters.map(({ event_id }) => event_id).sort()).toEqual(invalidEvents.map(({ headers }) => headers["ce_id"]).sort());
});

test.each([
  ["status", (event: KycEvent) => Object.assign(event.application ?? {}, { status: 99 })],
  ["verdict", (event: KycEvent) => Object.assign(event.application ?? {}, { verdict: 99 })],
] as const)(
  "the KYC consumer of the clients service dead-letters an event with the status WAITING if only a newer version supports the event's %s",
  async (_name, change) => {
    const { ids, readStatus } = await aClient();
    const applicationId = uuidv7();
    await harness.publish(aKycEvent({ ...ids, applicationId }));
    const message = aKycEvent({ ...ids, applicationId, revision: 2, status: "COMPLETED", verdict: "APPROVED" });
    const event = fromBinary(KycEventSchema, message.payload);
    change(event);
    await harness.publish({ ...message, payload: toBinary(KycEventSchema, event) });
    expect(await readStatus()).toEqual(["KYC_PENDING", "CREATED", applicationId, true]);
    const deadLetters = await harness.sql("select status from dead_letter where event_id = ?", [message.headers["ce_id"]]);
    expect(deadLetters).toEqual([{ status: "WAITING" }]);
  },
);

test("the KYC consumer of the clients service applies an event whose client id is in upper case", async () => {
  const { ids, clientId, readStatus } = await aClient();
  await harness.publish(aKycEvent({ ...ids, clientId: clientId.toUpperCase() }));
  expect(await readStatus()).toContain("CREATED");
});

test("the KYC consumer of the clients service changes the client's updated_at only if the KYC status changes", async () => {
  const { caller, clientId, ids } = await aClient();
  const readUpdatedAt = async () => (await harness.clients.getClient({ id: clientId }, { caller })).updatedAtMs;
  harness.clock.nowMs = Date.now() + 60_000;
  const applicationId = uuidv7();
  await harness.publish(aKycEvent({ ...ids, applicationId, revision: 2, status: "OPENED" }));
  const updatedAt = await readUpdatedAt();
  expect(updatedAt).toBe(BigInt(harness.clock.nowMs));
  harness.clock.nowMs += 60_000;
  await harness.publish(aKycEvent({ ...ids, applicationId, revision: 3, status: "SUBMITTED" }));
  await harness.publish(aKycEvent({ ...ids, applicationId, revision: 1 }));
  expect(await readUpdatedAt()).toBe(updatedAt);
  harness.clock.nowMs = undefined;
});

test("the clients service with ONBOARDING_AUTO_APPROVE approves a client who is verified and has details, and emits an audit event", async () => {
  await using approvingHarness = await startHarness({ autoApprove: true });
  const caller = aBusinessCaller();
  const { id: clientId } = await approvingHarness.createPerson(caller);
  const readOnboarding = () => approvingHarness.onboarding.getOnboarding({ clientId }, { caller });
  await approvingHarness.publish(aKycEvent({ ...caller, clientId, status: "COMPLETED", verdict: "APPROVED", revision: 2 }));
  expect(await readOnboarding()).toMatchObject({ currentStep: OnboardingStep.DETAILS_PENDING });
  await approvingHarness.onboarding.createOnboardingDetails({ clientId, ...aDetailsRequest() }, { caller });
  const approvedOnboarding = await readOnboarding();
  expect(approvedOnboarding).toMatchObject({ currentStep: OnboardingStep.APPROVED, kycStatus: ClientKycStatus.VALIDATED });
  expect(await approvingHarness.readAuditEvents(approvedOnboarding.id)).toMatchObject([
    { actor: "platform", action: "onboarding.approved" },
  ]);

  const secondClient = await approvingHarness.createPerson(caller);
  await approvingHarness.onboarding.createOnboardingDetails({ clientId: secondClient.id, ...aDetailsRequest() }, { caller });
  await approvingHarness.publish(
    aKycEvent({ ...caller, clientId: secondClient.id, status: "COMPLETED", verdict: "APPROVED", revision: 2 }),
  );
  expect(await approvingHarness.onboarding.getOnboarding({ clientId: secondClient.id }, { caller })).toMatchObject({
    currentStep: OnboardingStep.APPROVED,
  });
});
