import type { Delivery, Event, ListEventsQuery } from "@amana/client";
import { eventLogTypes } from "@amana/public-api/names";
import { type Command, Option } from "commander";
import { parseTime, parseUuid } from "../../parsers.ts";
import { type Columns, jsonText, localTime, print, printFields, printRows } from "../../print.ts";
import { apiCommand } from "../api-command.ts";
import type { ApiOptions } from "../connect.ts";
import { listCommand } from "../list-command.ts";
import { entriesOf, printTimeline } from "../timeline.ts";

/** Returns the id of the payment, application or endpoint of an event. */
export const subjectIdOf = (body: Event["body"]): string =>
  String(body["payment_id"] ?? body["application_id"] ?? body["endpoint_id"] ?? "");

const columns: Columns<Event> = {
  ID: ({ id }) => id,
  TYPE: ({ type }) => type,
  ABOUT: { cellOf: ({ body }) => subjectIdOf(body), omitOrder: 2 },
  CREATED: { cellOf: ({ created_at }) => localTime(created_at), omitOrder: 1 },
};

const deliveryColumns: Columns<Delivery> = {
  ID: ({ id }) => id,
  ENDPOINT: ({ endpoint_id }) => endpoint_id,
  STATUS: ({ status }) => status,
  ATTEMPTS: { cellOf: ({ attempts }) => attempts.length, alignRight: true },
};

export function events(program: Command): void {
  const group = program.command("events").description("list, show or redeliver events");
  listCommand<Event, Pick<ListEventsQuery, "type" | "from" | "to">>(
    group,
    "list",
    {
      summary: "list events of the last 30 days, newest first",
      example: "events list --type PAYMENT_REFUNDED",
      key: ["business"],
      columns,
      emptyText: "No events found.",
    },
    ({ amana, requestOptions }, page, { type, from, to }) => amana.events.list({ ...page, type, from, to }, requestOptions()),
  )
    .addOption(new Option("--type <type>", "only this type").choices(eventLogTypes))
    .option("--from <time>", "only events at or after this time", parseTime)
    .option("--to <time>", "only events before this time", parseTime);
  apiCommand(
    group,
    "show <id>",
    { summary: "show an event and its delivery attempts", example: "events show 0199…", key: ["business"] },
    async ({ amana, requestOptions }, options, id: string) => {
      const event = await amana.events.get(id, requestOptions());
      const { items: deliveries } = await amana.events.listDeliveries(id, { limit: 100 }, requestOptions()).page();
      if (options.json) return print(jsonText({ ...event, deliveries }));
      printFields(event);
      print("");
      printTimeline(entriesOf(event, deliveries));
    },
  );
  apiCommand<ApiOptions & { readonly endpoint?: string }>(
    group,
    "redeliver <id>",
    {
      summary: "deliver an event again to one endpoint, or to all active endpoints that have a delivery of it",
      example: "events redeliver 0199… --endpoint 0199…",
      key: ["business"],
      statusCommand: (id) => `events show ${id}`,
    },
    async ({ amana, requestOptions }, { endpoint, json }, id: string) => {
      const deliveries = await amana.events.redeliver(id, { endpoint_id: endpoint }, requestOptions());
      printRows(deliveries, deliveryColumns, { json, emptyText: "No active endpoint has a delivery of this event." });
    },
  ).option("--endpoint <id>", "only this endpoint", parseUuid);
}
