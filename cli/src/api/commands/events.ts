import type { Delivery, Event, ListEventsQuery } from "@amana/client";
import { eventLogTypes } from "@amana/public-api/names";
import { type Command, Option } from "commander";
import { type Columns, jsonText, localTime, print, printFields, printRows } from "../../print.ts";
import { apiCommand, timeFrom, uuidFrom } from "../api-command.ts";
import type { ApiOptions } from "../connect.ts";
import { type ListOptions, showList, withListOptions } from "../show.ts";
import { entriesOf, printTimeline } from "../timeline.ts";

/** What an event is about: its payment, application or endpoint. */
export const aboutOf = (body: Event["body"]): string =>
  String(body["payment_id"] ?? body["application_id"] ?? body["endpoint_id"] ?? "");

const columns: Columns<Event> = {
  ID: ({ id }) => id,
  TYPE: ({ type }) => type,
  ABOUT: { of: ({ body }) => aboutOf(body), spare: 2 },
  CREATED: { of: ({ created_at }) => localTime(created_at), spare: 1 },
};

const deliveryColumns: Columns<Delivery> = {
  ID: ({ id }) => id,
  ENDPOINT: ({ endpoint_id }) => endpoint_id,
  STATUS: ({ status }) => status,
  ATTEMPTS: { of: ({ attempts }) => attempts.length, right: true },
};

interface Filters extends ListOptions {
  readonly type?: NonNullable<ListEventsQuery["type"]>;
  readonly from?: string;
  readonly to?: string;
}

/** What a business was told. */
export function events(program: Command): void {
  const noun = program.command("events").description("list, show with their deliveries, redeliver");
  withListOptions(
    apiCommand<Filters>(
      noun,
      "list",
      {
        says: "what a business was told, newest first, 30 days back",
        example: "events list --type PAYMENT_REFUNDED",
        key: ["business"],
      },
      (api, { type, from, to, ...options }) =>
        showList(api, options, { columns, none: "No events found." }, (page) =>
          api.amana.events.list({ ...page, ...(type && { type }), ...(from && { from }), ...(to && { to }) }, api.call()),
        ),
    ),
  )
    .addOption(new Option("--type <type>").choices(eventLogTypes))
    .option("--from <time>", "created then or later", timeFrom)
    .option("--to <time>", "created before", timeFrom);
  apiCommand(
    noun,
    "show <id>",
    { says: "one event, and every attempt to deliver it", example: "events show 0199…", key: ["business"] },
    async ({ amana, call }, options, id: string) => {
      const event = await amana.events.get(id, call());
      const { items: deliveries } = await amana.events.listDeliveries(id, { limit: 100 }, call()).page();
      if (options.json) return print(jsonText({ ...event, deliveries }));
      printFields(event);
      print("");
      printTimeline(entriesOf(event, deliveries));
    },
  );
  apiCommand<ApiOptions & { readonly endpoint?: string }>(
    noun,
    "redeliver <id>",
    {
      says: "delivers an event again, to one endpoint or to all that had a delivery",
      example: "events redeliver 0199… --endpoint 0199…",
      key: ["business"],
      ask: (id) => `events show ${id}`,
    },
    async ({ amana, call }, { endpoint, json }, id: string) => {
      const deliveries = await amana.events.redeliver(id, endpoint ? { endpoint_id: endpoint } : {}, call());
      printRows(deliveries, deliveryColumns, { json, none: "No endpoint is there to deliver it to." });
    },
  ).option("--endpoint <id>", "only to this one", uuidFrom);
}
