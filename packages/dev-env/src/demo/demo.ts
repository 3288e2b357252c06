import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { request } from "undici";
import { DevEnvError } from "../dev-env-error.ts";
import { type DevFile, devFileOf, readDevFile } from "../dev-file.ts";
import { ownArguments } from "../own-arguments.ts";
import { createProgress } from "../progress.ts";
import { startSystem } from "../system.ts";
import { gatherCast } from "./cast.ts";
import { onboardClient } from "./onboard-client.ts";
import { payAndRefund } from "./pay-and-refund.ts";
import { createStory } from "./story.ts";
import { verifyApplicants } from "./verify-applicants.ts";

const { values: flags } = parseArgs({ args: ownArguments(), options: { browser: { type: "boolean", default: false } } });
const story = createStory((text) => process.stdout.write(text));

try {
  await main();
  story.say("\nEverything was seen: the demo passed.");
} catch (error) {
  story.say(`\n✗ ${(error as Error).message}`);
  process.exitCode = 1;
}

async function main(): Promise<void> {
  const root = join(import.meta.dirname, "..", "..", "..", "..");
  const dir = resolve(root, process.env["AMANA_DIR"] ?? ".amana");
  const running = await runningSystem(dir);
  if (running) {
    story.say("A system is running already: using it.");
    return await tell(running);
  }
  story.say("No system is running: starting one for the demo.");
  process.env["NODE_COMPILE_CACHE"] ??= join(dir, "cache");
  await using system = await startSystem({
    dir,
    events: "auto",
    brokers: process.env["KAFKA_BROKERS"],
    databaseUrl: process.env["DATABASE_URL"],
    progress: createProgress(),
  });
  await tell(devFileOf(system));
}

/** The system on this folder, if it answers. */
async function runningSystem(dir: string): Promise<DevFile | undefined> {
  const file = await readDevFile(dir);
  if (!file) return undefined;
  const alive = await request(`${file.gateway_url}/healthz`, { headersTimeout: 2_000 }).then(
    (answer) => answer.body.dump().then(() => answer.statusCode === 200),
    () => false,
  );
  if (!alive)
    throw new DevEnvError(
      `${join(dir, "dev.json")} names a system that does not answer.`,
      "Start it again: npx --yes pnpm@12 start",
    );
  return file;
}

async function tell(system: DevFile): Promise<void> {
  story.say(`The system is at ${system.gateway_url} (events: ${system.events}).`);
  await using cast = await gatherCast(story, system);
  const options = { inBrowser: flags.browser };
  await payAndRefund(story, cast, options);
  await verifyApplicants(story, cast, options);
  await onboardClient(story, cast);
  story.step("Looking back.");
  story.expect(cast.receiver.refused.length === 0, "no webhook came with a signature that does not hold");
}
