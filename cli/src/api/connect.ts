import { readFileSync } from "node:fs";
import { text } from "node:stream/consumers";
import { readApiKeyKind } from "@amana/api-keys";
import { Amana, type RequestOptions } from "@amana/client";
import { withoutSlashes } from "@amana/runtime/without-slashes";
import { CommandError, exitCodes } from "../command-error.ts";
import { readDevFile } from "../dev-file.ts";

export type KeyOwner = "business" | "operator";

export const keyNames: Readonly<Record<KeyOwner, string>> = { business: "a business's key", operator: "an operator's key" };

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

export interface Api {
  readonly amana: Amana;
  readonly url: string;
  /** Value of the Authorization header, for requests that do not use the client library. */
  readonly authorization: string;
  readonly keyOwner: KeyOwner;
  /** Aborted by Ctrl-C, SIGTERM or SIGHUP. */
  readonly stopSignal: AbortSignal;
  /** Returns the options of a request: its timeout and the Idempotency-Key of the command line. */
  requestOptions(): RequestOptions;
}

const keyBytesMax = 1_000;

/**
 * Connects with the address and key from the options, the environment, or the development system
 * that `start` runs on this machine. Sends that system's keys to no other address. The first entry
 * of `permittedKeys` selects the development key. Throws CommandError for an unusable address or
 * key.
 */
export async function connect(options: ApiOptions, permittedKeys: readonly KeyOwner[], stop: AbortSignal): Promise<Api> {
  const givenUrl = options.url ?? process.env["AMANA_URL"];
  const givenKey = await readGivenKey(options);
  // Reads the development system's file only if the address or the key is missing, so that an
  // incomplete file does not stop a call with address and key.
  const development = givenUrl === undefined || givenKey === undefined ? developmentSystem() : undefined;
  const url = givenUrl === undefined ? development?.url : addressOf(givenUrl, options.allowHttp);
  if (url === undefined)
    throw new CommandError(
      "No deployment is selected and no system runs on this machine. Set --url or AMANA_URL and a key, or start a system: npx --yes pnpm@12 start",
      exitCodes.usage,
    );
  const [defaultOwner = "business"] = permittedKeys;
  const key = givenKey ?? (url === development?.url ? development.keys[defaultOwner] : undefined);
  const required = permittedKeys.map((owner) => keyNames[owner]).join(" or ");
  const nextStep = "Pass it in a file with --key-file (- for standard input), or in AMANA_KEY.";
  if (key === undefined) throw new CommandError(`The command needs ${required}. ${nextStep}`, exitCodes.usage);
  const kind = readApiKeyKind(key);
  if (!kind) throw new CommandError("The API key has an invalid format or checksum. Copy the complete key.", exitCodes.usage);
  const keyOwner = kind === "ak_" ? "operator" : "business";
  if (kind === "inv_" || !permittedKeys.includes(keyOwner)) {
    const actual = kind === "inv_" ? "an invitation token" : keyNames[keyOwner];
    throw new CommandError(`The command needs ${required}, but the given key is ${actual}. ${nextStep}`, exitCodes.usage);
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
    authorization: `Bearer ${key}`,
    keyOwner,
    stopSignal: stop,
    requestOptions: () => ({
      signal: AbortSignal.any([stop, AbortSignal.timeout(timeoutMs)]),
      idempotencyKey: options.idempotencyKey,
    }),
  };
}

const isThisMachine = (host: string) => /(^|\.)localhost$|^127(\.\d+){3}$|^\[::1\]$/.test(host);

function addressOf(text: string, allowHttp = false): string {
  const url = URL.parse(text.trim());
  const isValid = url && /^https?:$/.test(url.protocol) && !url.username && !url.password && !url.search && !url.hash;
  if (!isValid)
    throw new CommandError(
      "--url (or AMANA_URL) must be an address like https://api.example, without a user name, password or query.",
      exitCodes.usage,
    );
  if (url.protocol === "http:" && !allowHttp && !isThisMachine(url.hostname))
    throw new CommandError(
      `${url.origin} would receive the key unencrypted. Use its https:// address, or --allow-http if you trust the network.`,
      exitCodes.usage,
    );
  return withoutSlashes(url.href).replace(/\/api\/v1$/, "");
}

async function readGivenKey({ key, keyFile }: ApiOptions): Promise<string | undefined> {
  if (key !== undefined && keyFile !== undefined) throw new CommandError("Use --key or --key-file, not both.", exitCodes.usage);
  const fromFlags = key ?? (keyFile === undefined ? undefined : await readKey(keyFile, "--key-file"));
  if (fromFlags !== undefined) return fromFlags.trim();
  const { AMANA_KEY, AMANA_KEY_FILE } = process.env;
  if (AMANA_KEY && AMANA_KEY_FILE) throw new CommandError("Set AMANA_KEY or AMANA_KEY_FILE, not both.", exitCodes.usage);
  return (AMANA_KEY || (AMANA_KEY_FILE && (await readKey(AMANA_KEY_FILE, "AMANA_KEY_FILE"))) || undefined)?.trim();
}

async function readKey(file: string, name: string): Promise<string> {
  try {
    const content = file === "-" ? await text(process.stdin) : readFileSync(file, "utf8");
    return content.slice(0, keyBytesMax);
  } catch (error) {
    throw new CommandError(
      `${name} cannot be read: ${(error as NodeJS.ErrnoException).code}. Check the path and its permissions.`,
      exitCodes.usage,
    );
  }
}

/** Returns address and keys from the file that `start` writes while it runs. */
function developmentSystem(): { url: string; keys: Readonly<Record<KeyOwner, string | undefined>> } | undefined {
  const file = readDevFile();
  if (!file) return undefined;
  return { url: addressOf(file.gateway_url), keys: { operator: file.admin_key, business: file.business?.api_key } };
}
