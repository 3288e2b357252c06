import { existsSync } from "node:fs";

const usualPaths = [
  "/usr/bin/chromium",
  "/usr/bin/chromium-browser",
  "/usr/bin/google-chrome",
  "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
];

/**
 * Returns the first path that exists: CHROMIUM_PATH, and then the usual paths of Chromium and
 * Chrome. Returns undefined if no path exists.
 */
export const findChromium = (): string | undefined =>
  [process.env["CHROMIUM_PATH"], ...usualPaths].find((path) => path !== undefined && path !== "" && existsSync(path));

/**
 * Command line flags for a browser in tests and commands: without Chromium's own sandbox, which
 * does not work in containers, and without background traffic.
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
