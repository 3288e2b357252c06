import { defineEntity, p } from "@mikro-orm/postgresql";

const schema = defineEntity({
  name: "Event",
  tableName: "event",
  properties: {
    id: p.uuid().primary(),
    businessId: p.uuid(),
    type: p.text(),
    /** The JSON text that every attempt sends unchanged. */
    body: p.text(),
    /** Trace context of the delivery attempts. */
    traceparent: p.text().nullable(),
    createdAt: p.datetime(3),
  },
});

/** An event of a business. SQL statements insert the rows, not the ORM. */
export class Event extends schema.class {}
schema.setClass(Event);
