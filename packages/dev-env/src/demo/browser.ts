import { existsSync } from "node:fs";
import { type Browser, chromium } from "playwright-core";
import { DevEnvError } from "../dev-env-error.ts";

const flags = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

/** Headless Chromium, closed when disposed of. */
export async function openBrowser(): Promise<Browser> {
  const executablePath = [
    "/usr/bin/chromium",
    "/usr/bin/chromium-browser",
    "/usr/bin/google-chrome",
    process.env["CHROMIUM_PATH"],
  ].find((path) => path && existsSync(path));
  if (!executablePath) {
    throw new DevEnvError(
      "There is no Chromium on this machine.",
      "Install one (Debian: apt-get install chromium), set CHROMIUM_PATH, or run the demo without --browser.",
    );
  }
  return await chromium.launch({ executablePath, args: flags });
}
