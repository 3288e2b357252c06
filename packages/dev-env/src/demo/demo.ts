import { join } from "node:path";
import { amanaDir } from "@amana/runtime/amana-dir";
import { request } from "undici";
import { createCommand, createStopSignal, exitCodes, runCommandLine } from "../command-line.ts";
import { openDataDir } from "../data-dir.ts";
import { DevEnvError } from "../dev-env-error.ts";
import { type DevFile, devFileOf, readDevFile } from "../dev-file.ts";
import { createProgress, type Progress } from "../progress.ts";
import { startSystem } from "../system.ts";
import { onboardClient } from "./onboard-client.ts";
import { registerParticipants } from "./participants.ts";
import { payAndRefund } from "./pay-and-refund.ts";
import { createReporter } from "./reporter.ts";
import { sellByLink } from "./sell-by-link.ts";
import { verifyApplicants } from "./verify-applicants.ts";

const reporter = createReporter((text) => process.stdout.write(text));
const command = createCommand(
  "demo",
  "Show and check a payment, a refund, a payment link, verifications and an onboarding. Uses the running system, or starts a system for the demo.",
)
  .option("--browser", "use the hosted pages in headless Chromium")
  .action(demo);
await runCommandLine(command);

async function demo({ browser = false }: { readonly browser?: boolean }): Promise<void> {
  const progress = createProgress();
  const { promise: stopped, reject: stop } = Promise.withResolvers<never>();
  const signal = createStopSignal(() => {
    progress.stopSteps();
    progress.print("Stopping");
    stop(new Error("stopped"));
  });
  // Prevents an unhandled rejection if the signal comes before or after the steps.
  stopped.catch(() => {});
  const runSteps = (system: DevFile) => Promise.race([runDemo(system, browser), stopped]);
  try {
    await withSystem(runSteps, progress, signal);
    reporter.print("\nThe demo passed: all steps have the expected results.");
  } catch (error) {
    // Exits at once, because a step may still wait for a response.
    if (signal.aborted) process.exit(exitCodes.interrupted);
    reporter.print(`\n✗ ${(error as Error).message}`);
    process.exitCode = exitCodes.failed;
  }
}

/** Calls `work` with the running system, or with a system that it starts and stops. */
async function withSystem(work: (system: DevFile) => Promise<void>, progress: Progress, signal: AbortSignal): Promise<void> {
  const root = join(import.meta.dirname, "..", "..", "..", "..");
  const runningFile = await runningSystem(amanaDir(root));
  if (runningFile) {
    reporter.print("Using the running system.");
    return await work(runningFile);
  }
  reporter.print("No system is running. Starting a system for the demo.");
  const dir = await openDataDir(amanaDir(root));
  process.env["NODE_COMPILE_CACHE"] ??= join(dir, "cache");
  await using system = await startSystem({
    dir,
    events: "auto",
    brokers: process.env["KAFKA_BROKERS"],
    databaseUrl: process.env["DATABASE_URL"] || undefined,
    kycProvider: process.env["KYC_PROVIDER"],
    progress,
    signal,
  });
  await work(devFileOf(system));
}

/**
 * Returns the system of this folder, or undefined if none runs. Throws if the system does not
 * respond.
 */
async function runningSystem(dir: string): Promise<DevFile | undefined> {
  const file = await readDevFile(dir);
  if (!file) return undefined;
  const isAlive = await request(`${file.gateway_url}/healthz`, { headersTimeout: 2_000 }).then(
    (response) => response.body.dump().then(() => response.statusCode === 200),
    () => false,
  );
  if (!isAlive)
    throw new DevEnvError(`The system in ${join(dir, "dev.json")} does not respond.`, "Start it again: npx --yes pnpm@12 start");
  return file;
}

async function runDemo(system: DevFile, inBrowser: boolean): Promise<void> {
  reporter.print(`The system is at ${system.gateway_url} (events: ${system.events}).`);
  await using participants = await registerParticipants(reporter, system);
  await payAndRefund(reporter, participants, { inBrowser });
  await sellByLink(reporter, participants, { inBrowser });
  await verifyApplicants(reporter, participants, { inBrowser });
  await onboardClient(reporter, participants);
  reporter.step("Check the webhook receiver.");
  reporter.expect(participants.receiver.refused.length === 0, "no webhook had an invalid signature");
}
