/** Runs sdks/scenario.json with this library and prints a line with the result of each step. */
import { readFileSync } from "node:fs";
import { Amana, ConnectionError, ProblemError, verifyWebhook, verifyXSignature, WebhookRefused } from "@amana/client";

type Values = Record<string, unknown>;
interface Signed {
  readonly url?: string;
  readonly headers: Record<string, string>;
  readonly body: string;
  readonly secrets: string[];
  readonly now?: number;
}
interface Step {
  readonly what: string;
  readonly as: string;
  readonly do?: string;
  readonly args: unknown[];
  readonly key?: string;
  readonly http?: string;
  readonly url: string;
  readonly body?: unknown;
  readonly verify?: Signed;
  readonly verifyXSignature?: Signed;
  readonly show?: string[];
  readonly keep?: Record<string, string>;
}

const scenario = JSON.parse(readFileSync(process.argv[2] ?? "", "utf8"));
const values: Values = { ...scenario.values, ...process.env };

/**
 * Replaces `${NAME}` with its value and `${NAME/}` with the last segment of a path. A text that is
 * only `${NAME}` may become a value of any type.
 */
function fill(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(fill);
  if (typeof value === "object" && value !== null) {
    return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, fill(member)]));
  }
  if (typeof value !== "string") return value;
  const variable = /^\$\{(\w+)\}$/.exec(value)?.[1];
  if (variable) return values[variable];
  return value.replaceAll(/\$\{(\w+)(\/?)\}/g, (_, name: string, takesLastSegment: string) => {
    const text = String(values[name]);
    return takesLastSegment ? (text.split("?")[0]?.split("/").at(-1) ?? "") : text;
  });
}

async function http(method: string, url: string, body?: unknown): Promise<Values> {
  const response = await fetch(url, {
    method,
    ...(body !== undefined && { body: JSON.stringify(body), headers: { "content-type": "application/json" } }),
  });
  return (await response.json()) as Values;
}

async function run(step: Step): Promise<Values> {
  if (step.http) return await http(step.http, step.url, step.body);
  const signed = step.verify ?? step.verifyXSignature;
  if (signed) {
    const { headers, body } = signed.url ? ((await http("GET", signed.url)) as unknown as Signed) : signed;
    if (step.verifyXSignature) return verifyXSignature(headers, body, signed.secrets) ?? {};
    return { ...verifyWebhook(headers, body, { secrets: signed.secrets, ...(signed.now && { nowSeconds: signed.now }) }).body };
  }
  const { timeoutSeconds, retryPauseSeconds, retries } = scenario.client;
  const client = fill(scenario.clients[step.as]) as { baseUrl: string; apiKey: string; allowHttp?: boolean };
  const amana = new Amana({ ...client, retries, timeoutMs: timeoutSeconds * 1000, retryPauseMs: retryPauseSeconds * 1000 });
  const [resource = "", method = ""] = step.do?.split(".") ?? [];
  const methods = (amana as unknown as Record<string, Record<string, (...given: unknown[]) => unknown>>)[resource];
  const result = methods?.[method]?.(...step.args, { ...(step.key !== undefined && { idempotencyKey: step.key }) });
  if (!method.startsWith("list")) return ((await result) || {}) as Values;
  let count = 0;
  for await (const _ of result as AsyncIterable<unknown>) count++;
  return { count };
}

async function resultOf(step: Step): Promise<string> {
  try {
    const result = await run(step);
    for (const [name, field] of Object.entries(step.keep ?? {})) values[name] = result[field];
    return ["ok", ...(step.show ?? []).map((name) => `${name}=${result[name] ?? "-"}`)].join(" ");
  } catch (error) {
    const unknown = (error as { outcomeUnknown?: boolean }).outcomeUnknown ? ", outcome unknown" : "";
    if (error instanceof ConnectionError) return `no response${unknown}`;
    if (error instanceof WebhookRefused) return "refused";
    if (error instanceof TypeError) return "misuse";
    if (!(error instanceof ProblemError)) throw error;
    const places = error.errors.map(({ pointer, parameter }) => ` ${pointer ?? parameter}`).sort();
    return `problem ${error.status} ${error.code}${places.join("")}${error.requestId ? ", request id" : ""}${unknown}`;
  }
}

for (const step of scenario.steps as Step[]) {
  const { keep, show, ...rest } = step;
  const result = await resultOf({ ...(fill(rest) as Step), ...(keep && { keep }), ...(show && { show }) });
  const expected = fill((step as unknown as { expect: string }).expect);
  console.log(`${result === expected ? "✓" : "✗"} ${step.what}: ${result}`);
}
