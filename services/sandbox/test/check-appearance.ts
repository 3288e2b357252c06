import type { Language } from "@amana/pages";
import { expectAccessible } from "@amana/testing/browser";
import type { Page } from "playwright-core";
import { expect } from "vitest";

/**
 * Checks that the page is accessible, on a small screen in light colours and a large screen in dark
 * colours. Also checks the elements that all pages have.
 */
export async function checkAppearance(page: Page, language: Language, state: string): Promise<void> {
  await expectAccessible(page, { state });
  expect(await page.evaluate("[document.documentElement.lang, document.dir]"), state).toEqual([
    language,
    language === "ar" ? "rtl" : "ltr",
  ]);
  expect(await page.locator("h1").count(), state).toBe(1);
  expect(await page.locator(".sandbox-notice").isVisible(), state).toBe(true);
}

/** Checks that every target is at least 44 pixels high on a screen that is 320 pixels wide. */
export async function checkSmallScreens(page: Page, state: string): Promise<void> {
  await page.setViewportSize({ width: 320, height: 640 });
  const tooSmall = await page.evaluate(`[...document.querySelectorAll("a, button, summary, input:not([type=hidden])")]
    .map((element) => element.closest("label") ?? element)
    .filter((element) => element.checkVisibility() && element.getBoundingClientRect().height < 44)
    .map((element) => element.outerHTML)`);
  expect(tooSmall, state).toEqual([]);
}
