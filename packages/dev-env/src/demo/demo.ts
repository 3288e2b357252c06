import { join } from "node:path";
import { amanaDir } from "@amana/runtime/amana-dir";
import { request } from "undici";
import { createCommand, exitCodes, runCommandLine, stopSignal } from "../command-line.ts";
import { openDataDir } from "../data-dir.ts";
import { DevEnvError } from "../dev-env-error.ts";
import { type DevFile, devFileOf, readDevFile } from "../dev-file.ts";
import { createProgress, type Progress } from "../progress.ts";
import { startSystem } from "../system.ts";
import { gatherCast } from "./cast.ts";
import { onboardClient } from "./onboard-client.ts";
import { payAndRefund } from "./pay-and-refund.ts";
import { createStory } from "./story.ts";
import { verifyApplicants } from "./verify-applicants.ts";

interface DemoOptions {
  readonly browser?: boolean;
}

const story = createStory((text) => process.stdout.write(text));
const command = createCommand(
  "demo",
  "Show and check a payment, a refund, verifications and an onboarding. Uses the system that start runs, or starts one for the demo.",
)
  .option("--browser", "use the hosted pages in headless Chromium")
  .action(demo);
await runCommandLine(command);

async function demo({ browser = false }: DemoOptions): Promise<void> {
  const progress = createProgress();
  const { promise: stopped, reject: stop } = Promise.withResolvers<never>();
  const signal = stopSignal(() => {
    progress.stopSteps();
    progress.print("Stopping");
    stop(new Error("stopped"));
  });
  // Without a system of its own, the demo has nothing to stop.
  stopped.catch(() => {});
  const tell = (system: DevFile) => Promise.race([tellStory(system, browser), stopped]);
  try {
    await onSystem(tell, progress, signal);
    story.say("\nThe demo passed: all steps have the expected results.");
  } catch (error) {
    // The story may still wait for a response.
    if (signal.aborted) process.exit(exitCodes.interrupted);
    story.say(`\n✗ ${(error as Error).message}`);
    process.exitCode = exitCodes.failed;
  }
}

/** Runs `tell` on the running system, or on a system that it starts and stops. */
async function onSystem(tell: (system: DevFile) => Promise<void>, progress: Progress, signal: AbortSignal): Promise<void> {
  const root = join(import.meta.dirname, "..", "..", "..", "..");
  const running = await runningSystem(amanaDir(root));
  if (running) {
    story.say("A system is running already: using it.");
    return await tell(running);
  }
  story.say("No system is running: starting one for the demo.");
  const dir = await openDataDir(amanaDir(root));
  process.env["NODE_COMPILE_CACHE"] ??= join(dir, "cache");
  await using system = await startSystem({
    dir,
    events: "auto",
    brokers: process.env["KAFKA_BROKERS"],
    databaseUrl: process.env["DATABASE_URL"] || undefined,
    progress,
    signal,
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

async function tellStory(system: DevFile, inBrowser: boolean): Promise<void> {
  story.say(`The system is at ${system.gateway_url} (events: ${system.events}).`);
  await using cast = await gatherCast(story, system);
  await payAndRefund(story, cast, { inBrowser });
  await verifyApplicants(story, cast, { inBrowser });
  await onboardClient(story, cast);
  story.step("Looking back.");
  story.expect(cast.receiver.refused.length === 0, "no webhook came with a signature that does not hold");
}
