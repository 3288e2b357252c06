import { existsSync } from "node:fs";

const usualPaths = [
  "/usr/bin/chromium",
  "/usr/bin/chromium-browser",
  "/usr/bin/google-chrome",
  "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
];

/**
 * Returns the path of an installed Chromium or Chrome: that of CHROMIUM_PATH, or a usual one.
 * Undefined if there is none.
 */
export const findChromium = (): string | undefined =>
  [process.env["CHROMIUM_PATH"], ...usualPaths].find((path) => path !== undefined && path !== "" && existsSync(path));

/**
 * Command line flags for a browser of a test or a command: no sandbox in containers, no traffic.
 */
export const chromiumFlags: readonly string[] = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];
