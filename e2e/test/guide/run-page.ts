import { spawn } from "node:child_process";
import { buffer, text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { type Block, readBlocks } from "./guide-page.ts";

type Json = unknown;
type Variables = Readonly<Record<string, string>>;

/**
 * Addresses and keys that replace the guide's placeholders. A reader of the guide has them before
 * the first sample.
 */
export interface Reader {
  readonly gatewayUrl: string;
  readonly sandboxUrl: string;
  readonly key: string;
  readonly adminKey: string;
}

/**
 * Shell code that makes curl silent, separates responses and prints each status to standard error.
 */
const prologue = `set -euo pipefail\ncurl() { command curl -sS -w '\\n%{stderr}%{http_code}\\n' "$@"; }\nset -a\n`;
const epilogue = "\nset +a\nenv -0 >&3\n";
/** True for a sample that changes no data. The test may repeat it until its response is right. */
const isReadOnly = (block: Block) => !/ -d | -X |^\w+ [\w.-]+$/m.test(block.text);
const isResponse = ({ language, text }: Block) => language === "json" || text.startsWith("HTTP/");
const retryTimeoutMs = 90_000;

async function runInShell(script: string, variables: Variables) {
  const child = spawn("bash", ["-c", prologue + script + epilogue], {
    env: { ...variables },
    stdio: ["ignore", "pipe", "pipe", "pipe"],
  });
  const exit = new Promise<number | null>((resolve) => child.once("exit", resolve));
  const [, stdout, stderr, environment] = child.stdio as unknown as NodeJS.ReadableStream[];
  const [output, errors, exported] = await Promise.all([
    text(stdout as NodeJS.ReadableStream),
    text(stderr as NodeJS.ReadableStream),
    buffer(environment as NodeJS.ReadableStream),
  ]);
  const code = await exit;
  if (code !== 0) throw new Error(`bash exited with code ${code}: ${errors}\n${script}`);
  const entries = exported
    .toString()
    .split("\0")
    .filter(Boolean)
    .map((entry) => [entry.slice(0, entry.indexOf("=")), entry.slice(entry.indexOf("=") + 1)] as const);
  return { output, statuses: errors.match(/^\d{3}$/gm)?.map(Number) ?? [], variables: Object.fromEntries(entries) };
}

/** Returns the header lines and the body of the last response. The body must be one JSON line. */
function readResponse(output: string): { head: string[]; body: Json } {
  const lines = output.replaceAll("\r", "").split("\n").filter(Boolean);
  const last = lines.at(-1) ?? "";
  const isJson = last.startsWith("{") || last.startsWith("[");
  return { head: lines.filter((line) => !line.startsWith("{")), body: isJson ? (JSON.parse(last) as Json) : undefined };
}

const escapeRegex = (words: string) => words.replaceAll(/[\\^$.*+?()[\]{}|/]/g, "\\$&");
const matches = (expected: string, actual: unknown) =>
  typeof actual === "string" && new RegExp(`^${expected.split("…").map(escapeRegex).join(".*")}$`, "s").test(actual);

/**
 * Returns the differences between the page and a response. "…" in the page's text matches any text.
 */
function findDifferences(expected: Json, actual: Json, place = ""): string[] {
  if (typeof expected === "string")
    return matches(expected, actual) ? [] : [`${place}: ${JSON.stringify(actual)}, not "${expected}"`];
  if (typeof expected !== "object" || expected === null)
    return expected === actual ? [] : [`${place}: ${JSON.stringify(actual)}, not ${JSON.stringify(expected)}`];
  if (Array.isArray(expected) && (!Array.isArray(actual) || actual.length !== expected.length))
    return [`${place}: ${JSON.stringify(actual)}, not ${expected.length} items`];
  if (typeof actual !== "object" || actual === null) return [`${place}: ${JSON.stringify(actual)}, not an object`];
  return Object.entries(expected).flatMap(([name, value]) =>
    findDifferences(value, (actual as Record<string, Json>)[name], `${place}/${name}`),
  );
}

function findHeadDifferences(expected: string, head: readonly string[]): string[] {
  const isPresent = (line: string) =>
    head.some((headerLine) => {
      const colon = headerLine.indexOf(":");
      return matches(line, colon > 0 ? headerLine.slice(0, colon).toLowerCase() + headerLine.slice(colon) : headerLine.trim());
    });
  return expected
    .trim()
    .split("\n")
    .filter((line) => !isPresent(line))
    .map((line) => `no "${line}" in ${head.join(" | ")}`);
}

/** Runs a page's shell samples in order. Returns the differences between responses and page. */
export async function runPage(page: string, { gatewayUrl, sandboxUrl, key, adminKey }: Reader): Promise<string[]> {
  const blocks = readBlocks(page);
  let variables: Variables = { PATH: process.env["PATH"] ?? "", API: `${gatewayUrl}/api/v1`, SANDBOX: sandboxUrl, KEY: key };
  const problems: string[] = [];
  for (const [i, block] of blocks.entries()) {
    if (block.language !== "sh") continue;
    const next = blocks.slice(i + 1);
    const until = next.findIndex((following) => !isResponse(following));
    const responses = next.slice(0, until === -1 ? undefined : until);
    const script = block.text
      .replaceAll("http://127.0.0.1:8080", gatewayUrl)
      .replaceAll("http://127.0.0.1:8090", sandboxUrl)
      .replaceAll("sk_test_…", key)
      .replaceAll("ak_…", adminKey)
      // Runs amana.ts directly, because pnpm needs a second for each call.
      .replaceAll("npx --yes pnpm@12 amana", `${process.execPath} cli/src/amana.ts`);
    const { differences, variables: newVariables } = await runSample({ ...block, text: script }, responses, variables);
    variables = newVariables;
    problems.push(...differences.map((difference) => `${page}: ${block.text.split("\n")[0]}: ${difference}`));
  }
  return problems;
}

async function runSample(sample: Block, responses: readonly Block[], variablesBefore: Variables) {
  const endsAtMs = Date.now() + retryTimeoutMs;
  for (;;) {
    const { output, statuses, variables } = await runInShell(sample.text, variablesBefore);
    const { head, body } = readResponse(output);
    const differences = responses.flatMap(({ language, text }) =>
      language === "json" ? findDifferences(JSON.parse(text), body) : findHeadDifferences(text, head),
    );
    const failed = responses.length === 0 ? statuses.filter((status) => status >= 400) : [];
    if (failed.length > 0) differences.push(`returned ${failed.join(", ")}: ${output}`);
    if (differences.length > 0 && isReadOnly(sample) && Date.now() < endsAtMs) {
      await sleep(250);
      continue;
    }
    const kept = responses
      .flatMap(({ keptVariables }) => keptVariables)
      .map(([name, member]) => [name, readMember(body, member)] as const);
    return { differences, variables: { ...variables, ...Object.fromEntries(kept) } };
  }
}

/** Reads a member by its path: "1.id" is the id of the second item. */
const readMember = (value: Json, path: string): string =>
  String(path.split(".").reduce((inner, name) => (inner as Record<string, Json> | undefined)?.[name], value));
