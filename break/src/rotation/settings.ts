import { readFileSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { amanaDone, databaseSettings } from "@amana/dev-env/run-amana";
import type { ServiceName } from "@amana/dev-env/services";
import type { System } from "@amana/dev-env/system";
import { type Replicated, replicated } from "../rolling/replicas.ts";

/** What the command says of a step that it has done in the files. */
export interface Step {
  readonly text: string;
  /** Whose replicas have to be restarted, one after the other. */
  readonly restart: readonly Replicated[];
  readonly isLast: boolean;
}

/** The settings of each service in a file, as a deployment has them. */
export interface Settings extends AsyncDisposable {
  /** What a process of the service is started with now. */
  envOf(name: ServiceName): Record<string, string>;
  /** The next step of a secret's rotation, as people do it. Throws when it is refused. */
  rotate(secret: string): Promise<Step>;
}

export async function writeSettings(system: System): Promise<Settings> {
  const dir = await mkdtemp(join(tmpdir(), "amana-rotation-"));
  const fileOf = (name: Replicated) => join(dir, `${name}.env`);
  for (const name of replicated) {
    const lines = Object.entries(system.envOf(name)).map(([setting, value]) => `${setting}=${value}\n`);
    await writeFile(fileOf(name), lines.join(""));
  }
  let restarted: readonly Replicated[] = [];

  return {
    envOf: (name) => (name === "sandbox" ? system.envOf(name) : settingsIn(readFileSync(fileOf(name), "utf8"))),
    async rotate(secret) {
      // What was restarted can be seen of all but gateways, which have no database.
      const flags = restarted.includes("gateway") ? ["--restarted"] : [];
      // Kafka's seven days and a fingerprint's one are not waited for: here nothing old is on its way.
      const args = ["--settings", ...replicated.map(fileOf), "--retention-hours", "0", ...flags];
      const text = await amanaDone(databaseSettings(system.databaseUrls), "secrets", "rotate", secret, ...args);
      const [, named = ""] = /restart the replicas of (.*?), one after/.exec(text) ?? [];
      restarted = replicated.filter((name) => named.split(", ").includes(name));
      return { text, restart: restarted, isLast: text.includes("the end of it") };
    },
    [Symbol.asyncDispose]: () => rm(dir, { recursive: true, force: true }),
  };
}

const settingsIn = (text: string): Record<string, string> =>
  Object.fromEntries([...text.matchAll(/^([A-Z_]+)=(.*)$/gm)].map(([, name = "", value = ""]) => [name, value]));
