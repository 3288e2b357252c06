import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { readApiKeyKind } from "@amana/api-keys";
import { Amana, type RequestOptions } from "@amana/client";
import { amanaDir } from "@amana/runtime/amana-dir";
import { withoutSlashes } from "@amana/runtime/without-slashes";
import { exitCodes, Refused } from "../refused.ts";

/** Whose key a command takes. */
export type KeyOf = "business" | "operator";

export interface ApiOptions {
  readonly url?: string;
  readonly key?: string;
  readonly keyFile?: string;
  readonly timeout: number;
  readonly json?: boolean;
  readonly yes?: boolean;
  readonly idempotencyKey?: string;
  readonly allowHttp?: boolean;
}

/** A deployment, with one key. */
export interface Api {
  readonly amana: Amana;
  readonly url: string;
  readonly keyOf: KeyOf;
  /** Ctrl-C, or an end from outside. */
  readonly stop: AbortSignal;
  /** What each call is given: the end of its time, and the caller's Idempotency-Key. */
  call(): RequestOptions;
}

const root = join(import.meta.dirname, "..", "..", "..");
const keyBytesMax = 1_000;

/**
 * Finds address and key: by flag, in the environment, or of the system that `start` runs here,
 * whose keys go nowhere else. Of several sorts of key that a command takes, the first is taken of
 * that system. Refuses, without a call, what cannot work.
 */
export async function connect(options: ApiOptions, takes: readonly KeyOf[], stop: AbortSignal): Promise<Api> {
  const given = options.url ?? process.env["AMANA_URL"];
  const own = await givenKey(options);
  // What is told whole needs nothing of this machine.
  const development = given === undefined || own === undefined ? developmentSystem() : undefined;
  const url = given === undefined ? development?.url : addressOf(given, options.allowHttp);
  if (url === undefined)
    throw new Refused(
      "Which deployment is meant, nobody says. Give --url or AMANA_URL with a key, or start one here: npx --yes pnpm@12 start",
      exitCodes.usage,
    );
  const [first = "business"] = takes;
  const key = own ?? (url === development?.url ? development.keys[first] : undefined);
  const article = takes.map((one) => (one === "operator" ? "an operator's key" : "a business's key")).join(" or ");
  const how = "Give it in a file with --key-file (- reads standard input), or in AMANA_KEY.";
  if (key === undefined) throw new Refused(`This needs ${article}. ${how}`, exitCodes.usage);
  const kind = readApiKeyKind(key);
  if (!kind)
    throw new Refused("The key is none: a character is missing, too many or another one. Copy it whole.", exitCodes.usage);
  const keyOf = kind === "ak_" ? "operator" : "business";
  if (kind === "inv_" || !takes.includes(keyOf)) {
    const was = kind === "inv_" ? "an invitation's token" : keyOf === "operator" ? "an operator's" : "a business's";
    throw new Refused(`This needs ${article}, and the one given is ${was}. ${how}`, exitCodes.usage);
  }
  const timeoutMs = options.timeout * 1000;
  return {
    amana: new Amana({
      baseUrl: url,
      apiKey: key,
      timeoutMs,
      retries: 2,
      retryPauseMs: 500,
      allowHttp: options.allowHttp === true,
    }),
    url,
    keyOf,
    stop,
    call: () => ({
      signal: AbortSignal.any([stop, AbortSignal.timeout(timeoutMs)]),
      ...(options.idempotencyKey !== undefined && { idempotencyKey: options.idempotencyKey }),
    }),
  };
}

const isThisMachine = (host: string) => /(^|\.)localhost$|^127(\.\d+){3}$|^\[::1\]$/.test(host);

function addressOf(text: string, allowHttp = false): string {
  const url = URL.parse(text.trim());
  const isGood = url && /^https?:$/.test(url.protocol) && !url.username && !url.password && !url.search && !url.hash;
  if (!isGood)
    throw new Refused("--url (or AMANA_URL) must be an address like https://api.example, without a key in it.", exitCodes.usage);
  if (url.protocol === "http:" && !allowHttp && !isThisMachine(url.hostname))
    throw new Refused(
      `${url.origin} would show the key to whoever carries it there. Give its https:// address, or --allow-http where you trust the way.`,
      exitCodes.usage,
    );
  return withoutSlashes(url.href).replace(/\/api\/v1$/, "");
}

async function givenKey({ key, keyFile }: ApiOptions): Promise<string | undefined> {
  if (key !== undefined && keyFile !== undefined) throw new Refused("Give --key or --key-file, not both.", exitCodes.usage);
  const fromFlags = key ?? (keyFile === undefined ? undefined : await readKey(keyFile, "--key-file"));
  if (fromFlags !== undefined) return fromFlags.trim();
  const { AMANA_KEY, AMANA_KEY_FILE } = process.env;
  if (AMANA_KEY && AMANA_KEY_FILE) throw new Refused("Set AMANA_KEY or AMANA_KEY_FILE, not both.", exitCodes.usage);
  return (AMANA_KEY || (AMANA_KEY_FILE && (await readKey(AMANA_KEY_FILE, "AMANA_KEY_FILE"))) || undefined)?.trim();
}

async function readKey(file: string, name: string): Promise<string> {
  try {
    const found = file === "-" ? await text(process.stdin) : readFileSync(file, "utf8");
    return found.slice(0, keyBytesMax);
  } catch (error) {
    throw new Refused(`${name} cannot be read: ${(error as NodeJS.ErrnoException).code}.`, exitCodes.usage);
  }
}

/** What `start` writes down while it runs. */
function developmentSystem(): { url: string; keys: Readonly<Record<KeyOf, string | undefined>> } | undefined {
  const file = join(amanaDir(root), "dev.json");
  if (!existsSync(file)) return undefined;
  const { gateway_url, admin_key, business } = devFileOf(file);
  return { url: addressOf(gateway_url), keys: { operator: admin_key, business: business?.api_key } };
}

interface DevFile {
  readonly gateway_url: string;
  readonly admin_key?: string;
  readonly business?: { readonly api_key?: string };
}

/** Says of one that is half written nothing of what stands in it: keys do. */
function devFileOf(file: string): DevFile {
  try {
    const read = JSON.parse(readFileSync(file, "utf8"));
    if (typeof read?.gateway_url === "string") return read;
  } catch {
    // The same as one without an address.
  }
  throw new Refused(`${file} cannot be read. Start the system anew, or give --url and a key.`, exitCodes.usage);
}
