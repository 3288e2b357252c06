import type { ListWebhookEndpointsItem } from "@amana/client";
import { eventTypeNames } from "@amana/public-api/names";
import { type Command, InvalidArgumentError } from "commander";
import { wholeNumberParser } from "../../parsers.ts";
import { type Columns, localTime } from "../../print.ts";
import { apiCommand } from "../api-command.ts";
import { listCommand } from "../list-command.ts";
import { type ListenOptions, listen } from "../listen/listen.ts";
import { listParser } from "./deliveries.ts";

const columns: Columns<ListWebhookEndpointsItem> = {
  ID: ({ id }) => id,
  STATUS: ({ status }) => status,
  URL: { cellOf: ({ url }) => url, minWidth: 16 },
  EVENTS: { cellOf: ({ events }) => events.length, alignRight: true, omitOrder: 2 },
  CREATED: { cellOf: ({ created_at }) => localTime(created_at), omitOrder: 1 },
};

const key = ["business"] as const;

export function webhooks(program: Command): void {
  const group = program.command("webhooks").description("list, show or test endpoints; receive webhooks on this machine");
  listCommand(
    group,
    "list",
    { summary: "list endpoints, newest first", example: "webhooks list", key, columns, emptyText: "No endpoints found." },
    ({ amana, requestOptions }, page) => amana.webhookEndpoints.list(page, requestOptions()),
  );
  apiCommand(
    group,
    "show <id>",
    { summary: "show an endpoint and its delivery statistics", example: "webhooks show 0199…", key },
    ({ amana, requestOptions }, _options, id: string) => amana.webhookEndpoints.get(id, requestOptions()),
  );
  apiCommand(
    group,
    "test <id>",
    {
      summary: "send a WEBHOOK_TEST to an endpoint",
      example: "webhooks test 0199…",
      key,
      statusCommand: (id) => `webhooks show ${id}`,
    },
    ({ amana, requestOptions }, _options, id: string) => amana.webhookEndpoints.test(id, requestOptions()),
  );
  apiCommand<ListenOptions>(
    group,
    "listen",
    {
      summary: "print the webhooks of a development system and forward them to a local address",
      example: "webhooks listen --forward-to http://localhost:3000/hook --events PAYMENT_COMPLETED,PAYMENT_REFUNDED",
      key,
      helpNote: [
        "Registers an endpoint on this machine and removes it at Ctrl-C. Forwards headers and body unchanged, with their",
        "signatures. Returns the local address's response to Amana. Amana retries an error as in production.",
        "With --json, the first line has the address and the signing secret. Each further line has one delivery.",
      ].join("\n"),
    },
    listen,
  )
    .option("--forward-to <url>", "address of your receiver", localUrl)
    .option(
      "--events <types>",
      "only these event types, separated by commas (default: all that need no explicit subscription)",
      listParser(eventTypeNames),
    )
    .option("--print", "print the bodies, too")
    .option("--skip-forward", "print deliveries and return 200, without a receiver")
    .option("--port <port>", "local port (default: a free one)", wholeNumberParser(1, 65_535));
}

function localUrl(text: string): string {
  const url = URL.parse(text);
  if (!url || !/^https?:$/.test(url.protocol) || url.username || url.password)
    throw new InvalidArgumentError("It must be an address like http://localhost:3000/hook.");
  return url.href;
}
