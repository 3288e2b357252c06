import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { chromiumFlags, findChromium } from "@amana/runtime/chromium";
import { type Browser, chromium, type Page } from "playwright-core";
import { expect } from "vitest";

/** Path of Debian's package chromium-headless-shell, which needs half of Chromium's CPU time. */
const headlessShell = "/usr/bin/chromium-headless-shell";

/**
 * Path of the browser: CHROMIUM_PATH if set, then the headless shell, then a Chromium or Chrome.
 */
export const executablePath = !process.env["CHROMIUM_PATH"] && existsSync(headlessShell) ? headlessShell : findChromium();

/**
 * Returns whether no browser is installed. If so, prints that `tests` are skipped, for example
 * "browser tests of receipts".
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
 * Starts a headless browser with a fake camera, which shows a test picture. Prefers Chromium or
 * Chrome, because the headless shell denies every page the permission for the camera.
 */
export const launchBrowserWithCamera = (): Promise<Browser> =>
  chromium.launch({
    executablePath: findChromium() ?? executablePath ?? "",
    args: [...chromiumFlags, "--use-fake-device-for-media-stream"],
  });

/** Minified, because a page evaluates it with a third less CPU time than `axe.source`. */
const axeSource = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** Axe rules that depend on the size or the colours of a page. */
const appearanceRules = ["color-contrast", "link-in-text-block", "target-size", "scrollable-region-focusable"];

/** Expression that returns a text with a digit for each element of the document: 1 if visible. */
const visibleElements = `[...document.querySelectorAll("*")].map((element) =>
  Number(element.checkVisibility({ opacityProperty: true, visibilityProperty: true }))).join("")`;

/**
 * Expects that axe finds no violation and that the page does not scroll horizontally. Checks both
 * on a small screen in light colours and on a large screen in dark colours. If both screens show
 * the same elements, the second check runs only the rules that depend on the appearance.
 * `state`: name of the page's state in the messages. `screenshots`: path prefix of the screenshots,
 * without width and file extension.
 */
export async function expectAccessible(page: Page, { state = "", screenshots = "" } = {}): Promise<void> {
  // The debugger evaluates the script, so that no Content-Security-Policy blocks it.
  if (!(await page.evaluate("'axe' in window"))) await page.evaluate(axeSource);
  let checkedElements: unknown;
  for (const [width, colorScheme] of [[320, "light"] as const, [1280, "dark"] as const]) {
    const screen = `${state} ${width} wide, ${colorScheme}`;
    await page.setViewportSize({ width, height: 800 });
    // With reduced motion, colours change immediately, so that axe measures no colour during a
    // transition.
    await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
    if (screenshots) await page.screenshot({ path: `${screenshots}-${width}.png`, fullPage: true });
    const elements = await page.evaluate(visibleElements);
    const options = { resultTypes: ["violations"], ...(elements === checkedElements && { runOnly: appearanceRules }) };
    checkedElements = elements;
    const violations = await page.evaluate(`axe.run(document, ${JSON.stringify(options)}).then(({ violations }) =>
      violations.map(({ id, nodes }) => id + " " + nodes.map(({ html }) => html).join(" ")))`);
    expect(violations, screen).toEqual([]);
    expect(await page.evaluate("document.documentElement.scrollWidth"), screen).toBe(width);
  }
}
