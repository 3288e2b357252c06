import { rm } from "node:fs/promises";
import { join } from "node:path";
import { readJson, writeJson } from "./json-file.ts";
import type { System } from "./system.ts";

/**
 * Addresses and keys of a running system, for other programs. `start` stores them in dev.json while
 * the system runs.
 */
export type DevFile = ReturnType<typeof devFileOf>;

export const devFileOf = (system: System) => ({
  gateway_url: system.gatewayUrl,
  sandbox_url: system.sandboxUrl,
  admin_key: system.adminKey,
  business: system.business,
  events: system.events.mode,
  metrics_urls: system.metricsUrls,
  database_urls: system.databaseUrls,
});

const pathIn = (dir: string) => join(dir, "dev.json");

export const writeDevFile = (dir: string, system: System): Promise<void> => writeJson(pathIn(dir), devFileOf(system));

/**
 * Reads dev.json. Returns undefined if there is no file. After a crash, the file of the last run
 * remains.
 */
export const readDevFile = (dir: string): Promise<DevFile | undefined> => readJson(pathIn(dir));

export const removeDevFile = (dir: string): Promise<void> => rm(pathIn(dir), { force: true });
