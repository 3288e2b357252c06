import { ListEventsRequestSchema } from "@amana/contracts/webhooks/v1/event_service_pb";
import { businessOfRow, startListPlans, timeOfRow } from "@amana/service-host/testing";
import { expect, test } from "vitest";
import { database } from "../orm.ts";
import { eventList } from "./event.message.ts";

const insertEvents = `insert into event (id, business_id, type, body, created_at)
  select uuidv7(at - now()), ${businessOfRow}, case when i % 50 = 0 then 'PAYMENT_REFUNDED' else 'PAYMENT_COMPLETED' end, '{}', at
  from (select i, ${timeOfRow} as at from numbers) numbered`;

test("PostgreSQL uses an index on business_id for each filter of `eventList` if the table has a million rows", async () => {
  await using plans = await startListPlans("webhooks", database, ["event"], insertEvents);
  expect(await plans.badScans(eventList, ListEventsRequestSchema)).toEqual([]);
});
