import { existsSync } from "node:fs";
import { chromiumFlags, findChromium } from "@amana/runtime/chromium";
import axe from "axe-core";
import { type Browser, chromium, type Page } from "playwright-core";
import { expect } from "vitest";

/** Chromium without a window, which Debian offers as its own package. It needs half of the CPU. */
const headlessShell = "/usr/bin/chromium-headless-shell";

/** CHROMIUM_PATH has priority, then the headless shell, then an installed Chromium or Chrome. */
const executablePath = !process.env["CHROMIUM_PATH"] && existsSync(headlessShell) ? headlessShell : findChromium();

/**
 * Returns whether no browser is installed, and prints then that the tests are skipped. `tests`: for
 * example "browser tests of receipts".
 */
export function isBrowserMissing(tests: string): boolean {
  if (executablePath !== undefined) return false;
  process.stderr.write(
    `\nSKIPPED: ${tests}, because no Chromium was found. Install it (Debian: apt-get install chromium-headless-shell fonts-noto-core), or set CHROMIUM_PATH.\n\n`,
  );
  return true;
}

/** Starts a headless browser. */
export const launchBrowser = (): Promise<Browser> =>
  chromium.launch({ executablePath: executablePath ?? "", args: [...chromiumFlags] });

/**
 * Starts a headless browser with a fake camera, which shows a test picture. A page needs permission
 * to use it. The headless shell denies it without a question, so another browser has priority.
 */
export const launchBrowserWithCamera = (): Promise<Browser> =>
  chromium.launch({
    executablePath: findChromium() ?? executablePath ?? "",
    args: [...chromiumFlags, "--use-fake-device-for-media-stream"],
  });

/**
 * Loads axe with every document of the page. Call once before the first navigation, because the
 * policy of a page blocks a script that is added later.
 */
export const addAxe = (page: Page): Promise<unknown> => page.addInitScript(axe.source);

/**
 * Expects on a small light screen and on a large dark one that axe finds no violation and that the
 * page does not scroll horizontally. `screenshots`: path of the pictures without width and ending.
 */
export async function expectAccessible(page: Page, screenshots?: string): Promise<void> {
  for (const [width, colorScheme] of [[320, "light"] as const, [1280, "dark"] as const]) {
    const screen = `${width} wide, ${colorScheme}`;
    await page.setViewportSize({ width, height: 800 });
    await page.emulateMedia({ colorScheme });
    if (screenshots) await page.screenshot({ path: `${screenshots}-${width}.png`, fullPage: true });
    const violations = await page.evaluate(`axe.run(document, { resultTypes: ["violations"] }).then(({ violations }) =>
      violations.map(({ id, nodes }) => id + " " + nodes.map(({ html }) => html).join(" ")))`);
    expect(violations, screen).toEqual([]);
    expect(await page.evaluate("document.documentElement.scrollWidth"), screen).toBe(width);
  }
}
