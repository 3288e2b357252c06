import { defineEntity, p } from "@mikro-orm/postgresql";

const schema = defineEntity({
  name: "Event",
  tableName: "event",
  properties: {
    id: p.uuid().primary(),
    businessId: p.uuid(),
    type: p.text(),
    /** The JSON text that every delivery carries, byte for byte. */
    body: p.text(),
    /** The trace that attempts go on in. */
    traceparent: p.text().nullable(),
    createdAt: p.datetime(3),
  },
});

/** Something a business was, or will be, told. Written in SQL, by the thousand. */
export class Event extends schema.class {}
schema.setClass(Event);
