import type { Language } from "@amana/pages";
import type { Page } from "playwright-core";
import { expect } from "vitest";

/** Axe rules that depend on the size or the colours of a page. */
const appearanceRules = ["color-contrast", "link-in-text-block", "target-size", "scrollable-region-focusable"];

// Two screens are enough, because no rule of the stylesheet depends on both the size and the
// colours.
const screens = [
  { viewport: { width: 360, height: 640 }, colorScheme: "light", rules: {} },
  { viewport: { width: 1280, height: 800 }, colorScheme: "dark", rules: { runOnly: appearanceRules } },
] as const;

/**
 * Checks the page with axe on a small screen in light colours and a large screen in dark colours.
 * Also checks the elements that all pages have.
 */
export async function checkAppearance(page: Page, language: Language, state: string): Promise<void> {
  for (const { viewport, colorScheme, rules } of screens) {
    await page.setViewportSize(viewport);
    // With reduced motion, colours change immediately, so that axe measures no colour during a
    // transition.
    await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
    const options = { resultTypes: ["violations"], ...rules };
    const violations = await page.evaluate(`axe.run(document, ${JSON.stringify(options)}).then(({ violations }) =>
      violations.map(({ id, nodes }) => id + " " + nodes.map(({ html }) => html).join(" ")))`);
    expect(violations, `${state}, ${viewport.width} wide, ${colorScheme}`).toEqual([]);
  }
  expect(await page.evaluate("[document.documentElement.lang, document.dir]"), state).toEqual([
    language,
    language === "ar" ? "rtl" : "ltr",
  ]);
  expect(await page.locator("h1").count(), state).toBe(1);
  expect(await page.locator(".sandbox-notice").isVisible(), state).toBe(true);
}

/**
 * Checks that a width of 320 pixels needs no horizontal scrolling and that every target is at least
 * 44 pixels high.
 */
export async function checkSmallScreens(page: Page, state: string): Promise<void> {
  await page.setViewportSize({ width: 320, height: 640 });
  expect(await page.evaluate("document.documentElement.scrollWidth"), state).toBe(320);
  const tooSmall = await page.evaluate(`[...document.querySelectorAll("a, button, summary, input:not([type=hidden])")]
    .map((element) => element.closest("label") ?? element)
    .filter((element) => element.checkVisibility() && element.getBoundingClientRect().height < 44)
    .map((element) => element.outerHTML)`);
  expect(tooSmall, state).toEqual([]);
}
