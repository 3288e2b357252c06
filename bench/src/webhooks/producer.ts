/** Child process that replaces payments. It commits events at a fixed rate and publishes them. */
import { createTransport, readTransportOptions, startRelay } from "@amana/messaging";
import { createLogger, readEnv, sleep } from "@amana/runtime";
import pg from "pg";
import { nowMs, serveRequests } from "./child.ts";
import { commitEvent } from "./commit-event.ts";

export interface ProduceRequest {
  readonly run: number;
  /** Businesses of the events. Successive events belong to successive businesses, in rotation. */
  readonly businessIds: readonly string[];
  readonly perSecond: number;
  readonly seconds: number;
}

export interface ProduceReply {
  /** Start of the commit by event index. */
  readonly commitStartedMs: Float64Array;
  /** End of the commit by event index. */
  readonly committedMs: Float64Array;
}

const connections = 16;

const databaseUrl = process.env["DATABASE_URL"] ?? "";
const logger = createLogger("producer", "warn");
const options = readEnv((env) => readTransportOptions(env, { emits: ["payments.v1"], consumes: [] }));
const transport = await createTransport(options, { clientId: "payments", logger });
const relay = startRelay({ databaseUrl, topics: ["payments.v1"], transport, logger });
const pool = new pg.Pool({ connectionString: databaseUrl, max: connections });

serveRequests(async ({ run, businessIds, perSecond, seconds }: ProduceRequest): Promise<ProduceReply> => {
  const total = Math.round(perSecond * seconds);
  const commitStartedMs = new Float64Array(total);
  const committedMs = new Float64Array(total);
  const commits: Promise<void>[] = [];
  const startMs = nowMs();
  const commit = async (index: number) => {
    commitStartedMs[index] = nowMs();
    await commitEvent(pool, businessIds[index % businessIds.length] ?? "", { run, index });
    committedMs[index] = nowMs();
    relay.wake();
  };
  while (commits.length < total) {
    const due = Math.min(total, Math.ceil(((nowMs() - startMs) / 1000) * perSecond));
    while (commits.length < due) commits.push(commit(commits.length));
    await sleep(Math.min(5, 1000 / perSecond));
  }
  await Promise.all(commits);
  return { commitStartedMs, committedMs };
});
