import { existsSync } from "node:fs";
import { type Browser, chromium } from "playwright-core";

const executablePath = process.env["CHROMIUM_PATH"] ?? "/usr/bin/chromium";

export const browserIsMissing = !existsSync(executablePath);

if (browserIsMissing) {
  process.stderr.write(
    `\nSKIPPED: browser tests. Chromium does not exist at ${executablePath}. On Debian: apt-get install chromium fonts-noto-core; or set CHROMIUM_PATH.\n\n`,
  );
}

export const aBrowser = (): Promise<Browser> =>
  chromium.launch({
    executablePath,
    args: [
      "--headless",
      "--no-sandbox",
      "--disable-gpu",
      "--disable-quic",
      "--no-first-run",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
      // A fake camera with a test picture. A page still needs permission to use it.
      "--use-fake-device-for-media-stream",
    ],
  });
