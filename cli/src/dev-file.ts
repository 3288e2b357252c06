import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { amanaDir } from "@amana/runtime/amana-dir";
import { CommandError, exitCodes } from "./command-error.ts";

const root = join(import.meta.dirname, "..", "..");

/** The fields of dev.json that `amana` uses: addresses and keys of a local system. */
interface DevFile {
  readonly gateway_url: string;
  readonly admin_key?: string;
  readonly business?: { readonly api_key?: string };
  readonly database_urls?: Readonly<Record<string, string>>;
}

/**
 * Reads dev.json, which `start` stores while the system runs. Returns undefined if the file does
 * not exist. Error messages do not quote the file's content, because it contains keys.
 */
export function readDevFile(): DevFile | undefined {
  const file = join(amanaDir(root), "dev.json");
  if (!existsSync(file)) return undefined;
  try {
    const content = JSON.parse(readFileSync(file, "utf8"));
    if (typeof content?.gateway_url === "string") return content;
  } catch {
    // A file that is not JSON causes the same error as a file without an address.
  }
  throw new CommandError(
    `${file} is incomplete or not JSON. Start the system again, or set the addresses and keys (--help lists the options).`,
    exitCodes.usage,
  );
}
