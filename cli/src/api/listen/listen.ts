import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { hostname } from "node:os";
import { type CreateWebhookEndpointBody, ProblemError, verifyWebhook, type Webhook, WebhookRefused } from "@amana/client";
import { BodyTooLarge, readBytes } from "@amana/runtime/read-body";
import { sleep } from "@amana/runtime/time";
import { CommandError, exitCodes } from "../../command-error.ts";
import { jsonLine, jsonText, localTime, print, printable, styled } from "../../print.ts";
import { subjectIdOf } from "../commands/events.ts";
import type { Api, ApiOptions } from "../connect.ts";
import { type ForwardResult, forward } from "./forward.ts";

export interface ListenOptions extends ApiOptions {
  readonly forwardTo?: string;
  readonly skipForward?: boolean;
  readonly events?: CreateWebhookEndpointBody["events"];
  readonly print?: boolean;
  readonly port?: number;
}

const bodyBytesMax = 1024 * 1024;
const connectionsMax = 200;
/** Interval between two reads of the endpoint's status. */
const checkIntervalMs = 10_000;
const removeTimeoutMs = 5_000;
const greetingBody = "amana webhooks listen";

/**
 * Registers an endpoint on this machine and prints its deliveries until Ctrl-C. The path of the
 * endpoint contains the host name, so that the next start can find and remove an endpoint that a
 * crashed run left behind.
 */
export async function listen(api: Api, options: ListenOptions): Promise<void> {
  const { forwardTo, skipForward, events, json } = options;
  if ((forwardTo === undefined) === (skipForward !== true))
    throw new CommandError(
      "Use either --forward-to, for example --forward-to http://localhost:3000/hook, or --skip-forward.",
      exitCodes.usage,
    );
  await removeOldEndpoints(api);
  // The command also stops, and removes its endpoint, when the program that reads its output exits,
  // for example `head`.
  const outputClosed = new AbortController();
  process.stdout.removeAllListeners("error").on("error", () => outputClosed.abort());
  const stop = AbortSignal.any([api.stopSignal, outputClosed.signal]);

  const secret = Promise.withResolvers<string>();
  const path = `${pathOfMachine}/${randomBytes(8).toString("hex")}`;
  const server = createServer((request, response) => {
    void receive(request, response, { path, secret: secret.promise, options, stop });
  });
  server.maxConnections = connectionsMax;
  server.requestTimeout = 15_000;
  server.listen(options.port ?? 0, "127.0.0.1");
  await once(server, "listening").catch((error: NodeJS.ErrnoException) => {
    throw new CommandError(`The port ${options.port} cannot be used (${error.code}). Choose another port with --port.`);
  });
  const { port } = server.address() as { port: number };
  try {
    const url = `http://127.0.0.1:${port}${path}`;
    const endpoint = await api.amana.webhookEndpoints.create({ url, events }, api.requestOptions()).catch(explainRejectedUrl);
    secret.resolve(endpoint.secret ?? "");
    try {
      if (json) print(jsonLine({ listening: { url, endpoint_id: endpoint.id, secret: endpoint.secret, forward_to: forwardTo } }));
      else print(`${startMessage(endpoint, forwardTo)}\n`);
      await waitUntilStopped({ ...api, stopSignal: stop }, endpoint.id);
    } finally {
      await removeEndpoint(api, endpoint.id);
    }
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

const startMessage = ({ secret, events }: { secret?: string; events: readonly string[] }, forwardTo: string | undefined) =>
  `Listening${forwardTo ? `, forwarding to ${forwardTo}` : ""}. Press Ctrl-C to stop.
Signing secret  ${secret}  (valid until the command stops)
Events          ${events.join(", ")}`;

/**
 * Throws an error with advice if the deployment permits only public addresses and therefore
 * rejected the local address. Rethrows any other error.
 */
function explainRejectedUrl(error: unknown): never {
  const codes = ["url_not_https", "url_not_public"];
  const isUrlRejected = error instanceof ProblemError && codes.some((code) => code === error.code);
  if (!isUrlRejected) throw error;
  throw new CommandError(
    "This deployment delivers only to public https addresses and cannot reach this machine. Use a development system: npx --yes pnpm@12 start",
  );
}

/** Waits for Ctrl-C. Throws if someone deletes the endpoint, or if the key becomes invalid. */
async function waitUntilStopped({ amana, stopSignal, requestOptions }: Api, id: string): Promise<void> {
  let wasDisabled = false;
  while (!stopSignal.aborted) {
    await sleep(checkIntervalMs, stopSignal);
    if (stopSignal.aborted) break;
    const endpoint = await amana.webhookEndpoints.get(id, requestOptions()).catch((error: unknown) => error as Error);
    if (endpoint instanceof ProblemError && endpoint.status === 404)
      throw new CommandError("The endpoint was deleted. Run the command again.");
    // Without a valid key the command cannot detect that the endpoint was deleted.
    if (endpoint instanceof ProblemError && [401, 403].includes(endpoint.status)) throw endpoint;
    const isDisabled = "status" in endpoint && endpoint.status === "DISABLED";
    if (isDisabled && !wasDisabled)
      process.stderr.write(
        "The endpoint was disabled, for example after a response with status 410, and gets no deliveries. Run the command again.\n",
      );
    wasDisabled = isDisabled;
  }
  process.exitCode = exitCodes.done;
}

async function removeEndpoint({ amana }: Api, id: string): Promise<void> {
  await amana.webhookEndpoints.delete(id, { signal: AbortSignal.timeout(removeTimeoutMs) }).catch((error: unknown) => {
    if (error instanceof ProblemError && error.status === 404) return;
    process.stderr.write(
      `The endpoint ${id} could not be removed (${printable((error as Error).message)}). The next start of the command removes it.\n`,
    );
  });
}

const pathOfMachine = `/amana-listen/${encodeURIComponent(hostname().toLowerCase())}`;

/** Removes endpoints that earlier runs on this machine left behind. */
async function removeOldEndpoints(api: Api): Promise<void> {
  for await (const { id, url: text } of api.amana.webhookEndpoints.list({ limit: 100 }, api.requestOptions())) {
    const url = new URL(text);
    if (url.hostname !== "127.0.0.1" || !url.pathname.startsWith(`${pathOfMachine}/`)) continue;
    const isRunning = await fetch(url, { signal: AbortSignal.timeout(2_000), redirect: "error" })
      .then(async (response) => (await response.text()) === greetingBody)
      .catch(() => false);
    if (isRunning) continue;
    await api.amana.webhookEndpoints.delete(id, api.requestOptions());
    process.stderr.write(`Removed the endpoint ${id} of an earlier run.\n`);
  }
}

interface Receiver {
  readonly path: string;
  readonly secret: Promise<string>;
  readonly options: ListenOptions;
  readonly stop: AbortSignal;
}

async function receive(request: IncomingMessage, response: ServerResponse, { path, secret, options, stop }: Receiver) {
  const end = (status: number, body: Buffer | string = "", headers: Readonly<Record<string, string>> = {}) => {
    if (!response.headersSent && !response.destroyed) response.writeHead(status, headers).end(body);
  };
  if (request.url !== path) return end(404);
  if (request.method === "GET") return end(200, greetingBody);
  if (request.method !== "POST") return end(405);
  try {
    const body = await readBytes(request, bodyBytesMax);
    const webhook = verifyWebhook(request.headers as Record<string, string>, body, { secrets: [await secret] });
    const startedMs = performance.now();
    const { forwardTo } = options;
    const result: ForwardResult = forwardTo === undefined ? { status: 200 } : await forward(forwardTo, request, body, stop);
    printDelivery(webhook, result, performance.now() - startedMs, options);
    end(result.status, result.body, result.headers);
  } catch (error) {
    if (error instanceof BodyTooLarge) return end(413);
    if (!(error instanceof WebhookRefused)) return end(500);
    process.stderr.write(`A request was rejected with status 401 and not forwarded: ${error.message}\n`);
    end(401);
  }
}

function printDelivery(
  { id, event, body }: Webhook,
  { status, reason }: ForwardResult,
  ms: number,
  options: ListenOptions,
): void {
  const at = new Date().toISOString();
  const duration = Math.round(ms);
  if (options.json) {
    const line = { at, type: event, id, about: subjectIdOf(body), status, ms: duration, error: reason };
    print(jsonLine({ ...line, ...(options.print && { body }) }));
    return;
  }
  const isSuccess = status >= 200 && status < 300;
  const outcome = styled(isSuccess ? "green" : "red", `${status}${reason ? ` ${reason}` : ""}`);
  print(`${localTime(at)}  ${printable(event)}  ${printable(id)}  ${printable(subjectIdOf(body))}  ${outcome}  ${duration} ms`);
  if (options.print) print(jsonText(body));
}
