import { eventTypeNames } from "@amana/public-api/names";
import { sleep } from "@amana/runtime/time";
import { type Command, InvalidArgumentError, Option } from "commander";
import { exitCodes } from "../../refused.ts";
import { apiCommand, timeFrom } from "../api-command.ts";
import type { Api, ApiOptions } from "../connect.ts";
import { showOne } from "../show.ts";

type Body = Parameters<Api["amana"]["webhookEndpoints"]["replay"]>[1];
const statuses = ["pending", "succeeded", "failed", "skipped"] as const;

interface ReplayOptions extends ApiOptions {
  readonly since: string;
  readonly until?: string;
  readonly types?: NonNullable<Body["types"]>;
  readonly statuses?: NonNullable<Body["statuses"]>;
  readonly wait?: boolean;
}

/** Deliveries that an endpoint missed. */
export function deliveries(program: Command): void {
  const noun = program.command("deliveries").description("replay what an endpoint missed");
  apiCommand<ReplayOptions>(
    noun,
    "replay <endpoint-id>",
    {
      says: "delivers again what an endpoint missed, and waits until all of it is begun",
      example: "deliveries replay 0199… --since 2026-11-20T08:00Z --statuses failed",
      key: ["business"],
      ask: (id) => `webhooks show ${id}`,
    },
    async (api, { since, until, types, statuses, wait, ...options }, id: string) => {
      const body = { since, ...(until && { until }), ...(types && { types }), ...(statuses && { statuses }) };
      let replay = await api.amana.webhookEndpoints.replay(id, body, api.call());
      while (wait && replay.status === "RUNNING" && !api.stop.aborted) {
        await sleep(500);
        replay = await api.amana.webhookEndpoints.getReplay(id, replay.id, api.call());
      }
      showOne(replay, options);
      if (api.stop.aborted) process.exitCode = exitCodes.interrupted;
    },
  )
    .requiredOption("--since <time>", "events are kept for 30 days", timeFrom)
    .option("--until <time>", "itself left out; now unless given", timeFrom)
    .option("--types <types>", "only these, with commas between", oneOf(eventTypeNames))
    .option("--statuses <statuses>", `only these of ${statuses.join(",")}`, oneOf(statuses))
    .addOption(new Option("--no-wait", "answer at once: it goes on by itself"));
}

/** Words of a list with commas between, each of them known. */
export const oneOf =
  <W extends string>(known: readonly W[]) =>
  (text: string): W[] => {
    const words = text.split(",").map((word) => word.trim() as W);
    for (const word of words)
      if (!known.includes(word)) throw new InvalidArgumentError(`"${word}" is none of ${known.join(", ")}.`);
    return [...new Set(words)];
  };
