import type { ReplayWebhookEndpointBody } from "@amana/client";
import { eventTypeNames } from "@amana/public-api/names";
import { sleep } from "@amana/runtime/time";
import { type Command, InvalidArgumentError, Option } from "commander";
import { parseTime } from "../../parsers.ts";
import { apiCommand } from "../api-command.ts";
import type { ApiOptions } from "../connect.ts";

const statuses = ["pending", "succeeded", "failed", "skipped"] as const;

type ReplayOptions = ApiOptions & ReplayWebhookEndpointBody & { readonly wait?: boolean };

export function deliveries(program: Command): void {
  const group = program.command("deliveries").description("replay past events of an endpoint");
  apiCommand<ReplayOptions>(
    group,
    "replay <endpoint-id>",
    {
      summary: "deliver past events again; wait until all matching deliveries were started again",
      example: "deliveries replay 0199… --since 2026-11-20T08:00Z --statuses failed",
      key: ["business"],
      statusCommand: (id) => `webhooks show ${id}`,
    },
    async (api, { wait, since, until, types, statuses }, id: string) => {
      const body = { since, until, types, statuses };
      let replay = await api.amana.webhookEndpoints.replay(id, body, api.requestOptions());
      while (wait && replay.status === "RUNNING" && !api.stopSignal.aborted) {
        await sleep(500);
        replay = await api.amana.webhookEndpoints.getReplay(id, replay.id, api.requestOptions());
      }
      return replay;
    },
  )
    .requiredOption("--since <time>", "start of the period; events are kept for 30 days", parseTime)
    .option("--until <time>", "end of the period, exclusive (default: now)", parseTime)
    .option("--types <types>", "only these event types, separated by commas (default: all)", listParser(eventTypeNames))
    .option(
      "--statuses <statuses>",
      `only deliveries in these statuses (${statuses.join(",")}), separated by commas (default: failed,skipped)`,
      listParser(statuses),
    )
    .addOption(new Option("--no-wait", "return immediately; the replay continues in the background"));
}

/** Returns a parser for comma-separated lists of `known` words. */
export const listParser =
  <W extends string>(known: readonly W[]) =>
  (text: string): W[] => {
    const words = text.split(",").map((word) => word.trim() as W);
    for (const word of words)
      if (!known.includes(word)) throw new InvalidArgumentError(`"${word}" is not one of ${known.join(", ")}.`);
    return [...new Set(words)];
  };
