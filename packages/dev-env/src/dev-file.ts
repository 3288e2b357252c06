import { readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { System } from "./system.ts";

/** What programs beside the running system need to know of it; in dev.json while it runs. */
export interface DevFile {
  readonly gateway_url: string;
  readonly sandbox_url: string;
  readonly admin_key: string;
  readonly business: { readonly id: string; readonly api_key: string };
  readonly events: "kafka" | "direct";
}

const file = "dev.json";

/** Written whole or not at all: a reader never sees half a file. */
export async function writeDevFile(dir: string, system: System): Promise<void> {
  const content: DevFile = {
    gateway_url: system.gatewayUrl,
    sandbox_url: system.sandboxUrl,
    admin_key: system.adminKey,
    business: system.business,
    events: system.events.mode,
  };
  await writeFile(join(dir, `${file}.new`), `${JSON.stringify(content, null, 2)}\n`, { mode: 0o600 });
  await rename(join(dir, `${file}.new`), join(dir, file));
}

/** Undefined when no system runs on the folder, as far as the file tells. */
export async function readDevFile(dir: string): Promise<DevFile | undefined> {
  const text = await readFile(join(dir, file), "utf8").catch(() => undefined);
  return text === undefined ? undefined : (JSON.parse(text) as DevFile);
}

export async function removeDevFile(dir: string): Promise<void> {
  await rm(join(dir, file), { force: true });
}
