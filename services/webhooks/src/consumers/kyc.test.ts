import type { KycStatus, KycVerdict } from "@amana/contracts/kyc/v1/kyc_application_pb";
import { KycEventType } from "@amana/contracts/kyc/v1/kyc_events_pb";
import { aBusinessCaller } from "@amana/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { aKycEvent } from "../../test/a-kyc-event.ts";
import { type Harness, startHarness } from "../../test/harness.ts";

let harness: Harness;
beforeAll(async () => {
  harness = await startHarness({ deliver: false });
});
afterAll(() => harness[Symbol.asyncDispose]());

const deliveriesOf = async (eventId: string) =>
  (await harness.sql<{ endpoint_id: string }>("select endpoint_id from delivery where event_id = ?", [eventId])).map(
    (row) => row.endpoint_id,
  );
const url = "http://127.0.0.1/";

test("the KYC consumer of the webhooks service stores an event's body with the unchanged JSON text of the metadata", async () => {
  const caller = aBusinessCaller();
  const metadata = String.raw`{"z":1,"a":{"n":12345678901234567890,"f":1.10,"e":1E+2},"t":"\u00e9 \ud83d\ude00","k":[null,true,"\/"]}`;
  const event = aKycEvent({ ...caller, metadata, occurredAt: "2026-11-20T10:00:00.000Z" });
  await harness.publishTo("kyc.v1", event);
  const [row] = await harness.sql("select business_id, type, body from event where id = ?", [event.id]);
  expect(row).toEqual({
    business_id: caller.businessId,
    type: "KYC_COMPLETED",
    body: `{"id":"${event.id}","event":"KYC_COMPLETED","occurred_at":"2026-11-20T10:00:00.000Z","business_id":"${caller.businessId}","application_id":"${event.key}","external_id":"applicant-1","metadata":${metadata},"status":"COMPLETED","verdict":"APPROVED","reason_codes":[],"aml_hit_count":0}`,
  });
});

test("the KYC consumer of the webhooks service creates deliveries for an opt-in event type only to endpoints that select this type", async () => {
  const caller = aBusinessCaller();
  await harness.endpoints.createWebhookEndpoint({ url }, { caller });
  const subscribed = await harness.endpoints.createWebhookEndpoint({ url, events: ["KYC_CANCELED"] }, { caller });
  const canceled = aKycEvent({ ...caller, type: KycEventType.KYC_CANCELED });
  await harness.publishTo("kyc.v1", canceled);
  expect(await deliveriesOf(canceled.id)).toEqual([subscribed.id]);
});

test.each([KycEventType.KYC_CREATED, KycEventType.KYC_OPENED, KycEventType.KYC_SUBMITTED, KycEventType.KYC_PROCESSING])(
  "the KYC consumer of the webhooks service stores no event for the internal KYC event type %i, and applies the next message",
  async (type) => {
    const caller = aBusinessCaller();
    const nextEvent = aKycEvent(caller);
    await harness.publishTo("kyc.v1", aKycEvent({ ...caller, type }), nextEvent);
    expect(await harness.sql("select id from event where business_id = ?", [caller.businessId])).toEqual([{ id: nextEvent.id }]);
  },
);

test("the KYC consumer of the webhooks service dead-letters invalid messages", async () => {
  const invalidMessages = [
    { ...aKycEvent(), payload: new Uint8Array() },
    aKycEvent({ type: KycEventType.UNSPECIFIED }),
    aKycEvent({ businessId: "not a uuid" }),
  ];
  for (const message of invalidMessages) await harness.publishTo("kyc.v1", message, aKycEvent());
  const deadLetters = await harness.sql<{ event_id: string }>("select event_id from dead_letter where topic = 'kyc.v1'");
  expect(deadLetters.map((row) => row.event_id).sort()).toEqual(invalidMessages.map(({ id }) => id).sort());
});

test("the KYC consumer of the webhooks service dead-letters a message with the status WAITING if only a newer version supports the message's status or verdict", async () => {
  for (const event of [aKycEvent({ status: 99 as KycStatus }), aKycEvent({ verdict: 99 as KycVerdict })]) {
    await harness.publishTo("kyc.v1", event);
    expect(await harness.sql("select status from dead_letter where event_id = ?", [event.id])).toEqual([{ status: "WAITING" }]);
    expect(await harness.sql("select id from event where id = ?", [event.id])).toEqual([]);
  }
});
