import { randomBytes } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { hostname } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import { ProblemError, verifyWebhook, type Webhook, WebhookRefused } from "@amana/client";
import { jsonLine, jsonText, localTime, print, printable, styled } from "../../print.ts";
import { exitCodes, Refused } from "../../refused.ts";
import { aboutOf } from "../commands/events.ts";
import type { Api, ApiOptions } from "../connect.ts";
import { type Forwarded, forward } from "./forward.ts";
import { readBytes, TooLong } from "./read-bytes.ts";

export interface ListenOptions extends ApiOptions {
  readonly forwardTo?: string;
  readonly skipForward?: boolean;
  readonly events?: NonNullable<Parameters<Api["amana"]["webhookEndpoints"]["create"]>[0]["events"]>;
  readonly print?: boolean;
  readonly port?: number;
}

const bodyBytesMax = 1024 * 1024;
const connectionsMax = 200;
/** How often it is looked at whether the endpoint is still there. */
const lookMs = 10_000;
const removeMs = 5_000;
const greeting = "amana webhooks listen";

/**
 * Registers an endpoint on this machine and shows what is delivered to it, until Ctrl-C. Its
 * address names this machine, so that the next start finds what a crash has left.
 */
export async function listen(api: Api, options: ListenOptions): Promise<void> {
  const { forwardTo, skipForward, events, json } = options;
  if ((forwardTo === undefined) === (skipForward !== true))
    throw new Refused("Say where to: --forward-to http://localhost:3000/hook, or --skip-forward to only look.", exitCodes.usage);
  await removeLeftovers(api);
  // Who reads no further, such as head, ends it in good order too.
  const readerGone = new AbortController();
  process.stdout.removeAllListeners("error").on("error", () => readerGone.abort());
  const stop = AbortSignal.any([api.stop, readerGone.signal]);

  const secret = Promise.withResolvers<string>();
  const path = `${pathOfMachine}/${randomBytes(8).toString("hex")}`;
  const server = createServer((request, response) => {
    void receive(request, response, { path, secret: secret.promise, options, stop });
  });
  server.maxConnections = connectionsMax;
  server.requestTimeout = 15_000;
  const { promise: listening, resolve, reject } = Promise.withResolvers<void>();
  server.once("error", reject).listen(options.port ?? 0, "127.0.0.1", resolve);
  await listening.catch((error: NodeJS.ErrnoException) => {
    throw new Refused(`The port ${options.port} cannot be listened at (${error.code}). Give another --port.`);
  });
  const { port } = server.address() as { port: number };
  try {
    const url = `http://127.0.0.1:${port}${path}`;
    const endpoint = await api.amana.webhookEndpoints
      .create({ url, ...(events && { events }) }, api.call())
      .catch(explainRefusal);
    secret.resolve(endpoint.secret ?? "");
    try {
      if (json) print(jsonLine({ listening: { url, endpoint_id: endpoint.id, secret: endpoint.secret, forward_to: forwardTo } }));
      else print(`${welcome(endpoint, forwardTo)}\n`);
      await untilStopped({ ...api, stop }, endpoint.id);
    } finally {
      await remove(api, endpoint.id);
    }
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

const welcome = ({ secret, events }: { secret?: string; events: readonly string[] }, forwardTo: string | undefined) =>
  `Listening${forwardTo ? `, forwarding to ${forwardTo}` : ""}. Ctrl-C ends it.
Signing secret  ${secret}  (of this endpoint, until it ends)
Events          ${events.join(", ")}`;

/** Where the platform takes public addresses only, it could never reach this machine. */
function explainRefusal(error: unknown): never {
  const codes = ["url_not_https", "url_not_public"];
  const isRefused = error instanceof ProblemError && codes.some((code) => code === error.code);
  if (!isRefused) throw error;
  throw new Refused(
    "This deployment delivers to public https addresses only, and cannot reach this machine. Listen to a development system: npx --yes pnpm@12 start",
  );
}

/** Until Ctrl-C, or until the endpoint is there no more. */
async function untilStopped({ amana, stop, call }: Api, id: string): Promise<void> {
  let wasDisabled = false;
  while (!stop.aborted) {
    await sleep(lookMs, undefined, { signal: stop }).catch(() => undefined);
    if (stop.aborted) break;
    const found = await amana.webhookEndpoints.get(id, call()).catch((error: unknown) => error as Error);
    if (found instanceof ProblemError && found.status === 404) throw new Refused("The endpoint was deleted. Start again.");
    // Such as a key that was revoked: nobody would hear of the endpoint's end.
    if (found instanceof ProblemError && [401, 403].includes(found.status)) throw found;
    const isDisabled = "status" in found && found.status === "DISABLED";
    if (isDisabled && !wasDisabled)
      process.stderr.write("The endpoint was disabled, as after an answer of 410: nothing comes any more. Start again.\n");
    wasDisabled = isDisabled;
  }
  process.exitCode = exitCodes.done;
}

async function remove({ amana }: Api, id: string): Promise<void> {
  await amana.webhookEndpoints.delete(id, { signal: AbortSignal.timeout(removeMs) }).catch((error: unknown) => {
    if (error instanceof ProblemError && error.status === 404) return;
    process.stderr.write(
      `The endpoint ${id} could not be removed (${printable((error as Error).message)}). The next start does.\n`,
    );
  });
}

const pathOfMachine = `/amana-listen/${encodeURIComponent(hostname().toLowerCase())}`;

/** Endpoints of earlier runs on this machine that nobody listens at. */
async function removeLeftovers(api: Api): Promise<void> {
  for await (const { id, url: text } of api.amana.webhookEndpoints.list({ limit: 100 }, api.call())) {
    const url = new URL(text);
    if (url.hostname !== "127.0.0.1" || !url.pathname.startsWith(`${pathOfMachine}/`)) continue;
    const isThere = await fetch(url, { signal: AbortSignal.timeout(2_000), redirect: "error" })
      .then(async (answer) => (await answer.text()) === greeting)
      .catch(() => false);
    if (isThere) continue;
    await api.amana.webhookEndpoints.delete(id, api.call());
    process.stderr.write(`Removed the endpoint ${id}, which an earlier run had left.\n`);
  }
}

interface Receiving {
  readonly path: string;
  readonly secret: Promise<string>;
  readonly options: ListenOptions;
  readonly stop: AbortSignal;
}

async function receive(request: IncomingMessage, response: ServerResponse, { path, secret, options, stop }: Receiving) {
  const end = (status: number, body: Buffer | string = "", headers: Readonly<Record<string, string>> = {}) => {
    if (!response.headersSent && !response.destroyed) response.writeHead(status, headers).end(body);
  };
  if (request.url !== path) return end(404);
  if (request.method === "GET") return end(200, greeting);
  if (request.method !== "POST") return end(405);
  try {
    const body = await readBytes(request, bodyBytesMax);
    const webhook = verifyWebhook(request.headers as Record<string, string>, body, { secrets: [await secret] });
    const beganMs = performance.now();
    const { forwardTo } = options;
    const answer: Forwarded = forwardTo === undefined ? { status: 200 } : await forward(forwardTo, request, body, stop);
    tell(webhook, answer, performance.now() - beganMs, options);
    end(answer.status, answer.body, answer.headers);
  } catch (error) {
    if (error instanceof TooLong) return end(413);
    if (!(error instanceof WebhookRefused)) return end(500);
    process.stderr.write(`Refused with 401, not forwarded: ${error.message}\n`);
    end(401);
  }
}

function tell({ id, event, body }: Webhook, { status, reason }: Forwarded, ms: number, options: ListenOptions): void {
  const at = new Date().toISOString();
  const duration = Math.round(ms);
  if (options.json) {
    const line = { at, type: event, id, about: aboutOf(body), status, ms: duration, error: reason };
    print(jsonLine({ ...line, ...(options.print && { body }) }));
    return;
  }
  const isGood = status >= 200 && status < 300;
  const shown = styled(isGood ? "green" : "red", `${status}${reason ? ` ${reason}` : ""}`);
  print(`${localTime(at)}  ${printable(event)}  ${printable(id)}  ${printable(aboutOf(body))}  ${shown}  ${duration} ms`);
  if (options.print) print(jsonText(body));
}
