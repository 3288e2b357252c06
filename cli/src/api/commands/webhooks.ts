import type { ListWebhookEndpointsItem } from "@amana/client";
import { eventTypeNames } from "@amana/public-api/names";
import { type Command, InvalidArgumentError } from "commander";
import { wholeFrom } from "../../options.ts";
import { type Columns, localTime } from "../../print.ts";
import { apiCommand } from "../api-command.ts";
import { type ListenOptions, listen } from "../listen/listen.ts";
import { type ListOptions, showList, showOne, withListOptions } from "../show.ts";
import { oneOf } from "./deliveries.ts";

const columns: Columns<ListWebhookEndpointsItem> = {
  ID: ({ id }) => id,
  STATUS: ({ status }) => status,
  URL: { of: ({ url }) => url, min: 16 },
  EVENTS: { of: ({ events }) => events.length, right: true, spare: 2 },
  CREATED: { of: ({ created_at }) => localTime(created_at), spare: 1 },
};

const key = ["business"] as const;

/** Endpoints of a business, and one on this machine. */
export function webhooks(program: Command): void {
  const noun = program.command("webhooks").description("list, show, test, listen: endpoints, also one on this machine");
  withListOptions(
    apiCommand<ListOptions>(
      noun,
      "list",
      { says: "a business's endpoints, newest first", example: "webhooks list", key },
      (api, options) =>
        showList(api, options, { columns, none: "There is none." }, (page) => api.amana.webhookEndpoints.list(page, api.call())),
    ),
  );
  apiCommand(
    noun,
    "show <id>",
    { says: "one endpoint, with how deliveries to it went", example: "webhooks show 0199…", key },
    async ({ amana, call }, options, id: string) => showOne(await amana.webhookEndpoints.get(id, call()), options),
  );
  apiCommand(
    noun,
    "test <id>",
    { says: "sends it a WEBHOOK_TEST", example: "webhooks test 0199…", key, ask: (id) => `webhooks show ${id}` },
    async ({ amana, call }, options, id: string) => showOne(await amana.webhookEndpoints.test(id, call()), options),
  );
  apiCommand<ListenOptions>(
    noun,
    "listen",
    {
      says: "shows what a development system tells, and forwards it to an address on this machine",
      example: "webhooks listen --forward-to http://localhost:3000/hook --events PAYMENT_COMPLETED,PAYMENT_REFUNDED",
      key,
      more: [
        "An endpoint on this machine is registered, and removed at Ctrl-C. Headers and body are forwarded as they came, with",
        "their signatures; the answer of your address goes back, so that what fails is tried again, as for real.",
        "With --json each line is a document: first where it listens, with the signing secret, then one for each delivery.",
      ].join("\n"),
    },
    listen,
  )
    .option("--forward-to <url>", "where your receiver listens", localUrl)
    .option(
      "--events <types>",
      "only these, with commas between; all but those to be asked for unless given",
      oneOf(eventTypeNames),
    )
    .option("--print", "show bodies too")
    .option("--skip-forward", "only show what comes, and answer 200")
    .option("--port <port>", "to listen at; a free one unless given", wholeFrom(1, 65_535));
}

function localUrl(text: string): string {
  const url = URL.parse(text);
  if (!url || !/^https?:$/.test(url.protocol) || url.username || url.password)
    throw new InvalidArgumentError("It must be an address like http://localhost:3000/hook.");
  return url.href;
}
