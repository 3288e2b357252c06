import { languages } from "@amana/pages";
import { isBrowserMissing, launchBrowser, launchBrowserWithCamera } from "@amana/testing/browser";
import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Sandbox } from "../src/app.ts";
import { aSandbox, control } from "./a-sandbox.ts";
import { aShop, type Shop } from "./a-shop.ts";
import { aVerification, callProvider, kycControl, objectAt } from "./a-verification.ts";
import { checkAppearance, checkSmallScreens } from "./check-appearance.ts";

describe.skipIf(isBrowserMissing("browser tests of the verification page"))(
  "verification page in a browser",
  { concurrent: true },
  () => {
    let sandbox: Sandbox;
    let shop: Shop;
    let browser: Browser;
    let browserWithCamera: Browser;
    beforeAll(async () => {
      [sandbox, shop, browser, browserWithCamera] = await Promise.all([
        aSandbox(),
        aShop(),
        launchBrowser(),
        launchBrowserWithCamera(),
      ]);
    });
    afterAll(async () => {
      await browser.close();
      await browserWithCamera.close();
      await sandbox[Symbol.asyncDispose]();
      await shop[Symbol.asyncDispose]();
    });

    const aLink = (changes: Record<string, unknown> = {}) =>
      aVerification(sandbox.url, { redirect_url: `${shop.url}/back?basket=7`, ...changes });
    /** Opens a page. The browser has a camera if `permissions` is given, even if it is empty. */
    const aPage = async (options: BrowserContextOptions = {}) => {
      const context = await (options.permissions ? browserWithCamera : browser).newContext(options);
      const page = await context.newPage();
      page.setDefaultTimeout(90_000);
      return page;
    };
    const nextButton = "form[data-once] .primary:visible";
    const sampleButton = "[data-pretend] button";
    const heading = (page: Page) => page.textContent("h1");
    const visits = (reference: string) => shop.visits.filter((visit) => visit.includes(encodeURIComponent(reference)));

    /** Clicks an element and waits for the next page. */
    const press = (page: Page, selector: string) => Promise.all([page.waitForEvent("load"), page.click(selector)]);

    async function completeStepsUntilReview(page: Page, url: string, document = "passport") {
      await page.goto(url);
      await press(page, nextButton);
      await page.check(`[value=${document}]`);
      await press(page, nextButton);
      while ((await page.locator(sampleButton).count()) > 0) await press(page, sampleButton);
      await page.waitForSelector(".review-list");
    }

    test.each(languages)(
      "the verification page in the language %s has no axe violations in any state, and fits small screens",
      async (language) => {
        let page = await aPage();
        const context = page.context();
        // Prevents the automatic redirect, because the checks take longer than its delay.
        await context.route("**/return", (route) => route.fulfill({ status: 204 }));
        const check = async (state: string) => {
          await checkAppearance(page, language, state);
          await checkSmallScreens(page, state);
        };
        const visit = async (url: string, state: string) => {
          // Uses a new page, because an automatic redirect of the previous page could abort `goto`.
          await page.close();
          page = await context.newPage();
          page.setDefaultTimeout(90_000);
          await page.goto(url);
          await check(state);
        };

        const { linkUrl, token } = await aLink({ locale: language, require_video: false });
        await visit(linkUrl, "introduction");
        await press(page, nextButton);
        await page.click(nextButton);
        await page.waitForSelector(".problem");
        await check("document, none chosen");
        await page.check("[value=id_card]");
        await press(page, nextButton);
        await page.waitForSelector("[data-open]:visible");
        await check("front");
        await page.click("[data-open]");
        await page.waitForSelector("[data-message]:not(:empty)");
        await check("front, camera denied");
        await press(page, sampleButton);
        await press(page, sampleButton);
        await check("video or still");
        await press(page, nextButton);
        await check("video");
        await press(page, sampleButton);
        await check("review");

        await kycControl(sandbox.url, token, "submit", { outcome: "needs_review", hold_seconds: 3600 });
        await visit(linkUrl, "progress");
        const visitEnded = async (body: object, state: string, creation: Record<string, unknown> = {}) => {
          const link = await aLink({ locale: language, ...creation });
          await kycControl(sandbox.url, link.token, "submit", body);
          await visit(link.linkUrl, state);
        };
        await visitEnded({ outcome: "approved" }, "approved");
        await visitEnded({ outcome: "rejected", reason_codes: ["FACE_MISMATCH", "DOCUMENT_EXPIRED"] }, "rejected");
        await visitEnded({ outcome: "needs_review" }, "being looked at");
        await visitEnded({ outcome: "failed" }, "failed");
        await visitEnded({ outcome: "failed" }, "used up", { max_attempts: 1 });
        const canceled = await aLink({ locale: language });
        await visit(`${sandbox.url}/sandbox/kyc/${canceled.token}/tester?lang=${language}&saved=1`, "for testers");
        await callProvider(sandbox.url, "POST", `applications/${canceled.providerId}/cancel`);
        await visit(canceled.linkUrl, "cancelled");
        const expired = await aLink({ locale: language });
        await kycControl(sandbox.url, expired.token, "expire");
        await visit(expired.linkUrl, "expired");
        await visit(`${sandbox.url}/verify/unknown?lang=${language}`, "unknown");
        await context.close();
      },
    );

    test.each(languages)(
      "the camera step of the verification page in the language %s has no axe violations after a picture was taken, and fits small screens",
      async (language) => {
        const page = await aPage({ permissions: ["camera"] });
        const { linkUrl } = await aLink({ locale: language });
        await page.goto(linkUrl);
        await press(page, nextButton);
        await page.check("[value=id_card]");
        await press(page, nextButton);
        await page.click("[data-open]");
        await page.click("[data-take]");
        await page.waitForSelector("[data-keep]:visible");
        await checkAppearance(page, language, "front taken");
        await checkSmallScreens(page, "front taken");
        await page.context().close();
      },
    );

    test("the camera step of the verification page shows, retakes and keeps pictures, and sends no picture", async () => {
      const page = await aPage({ permissions: ["camera"] });
      const origins = new Set<string>();
      const bodies: string[] = [];
      const problems: string[] = [];
      page.on("request", (request) => {
        if (!request.url().startsWith("blob:")) origins.add(new URL(request.url()).origin);
        bodies.push(request.postData() ?? "");
      });
      page.on("console", (message) => problems.push(message.text()));
      page.on("pageerror", (error) => problems.push(error.message));
      const { linkUrl, providerId } = await aLink();
      await page.goto(linkUrl);
      await press(page, nextButton);
      await page.check("[value=passport]");
      await press(page, nextButton);

      await page.click("[data-open]");
      await page.click("[data-take]");
      await page.waitForSelector("canvas:visible");
      const colours = await page.evaluate(`new Set(document.querySelector("canvas").getContext("2d")
      .getImageData(0, 0, 640, 480).data).size`);
      expect(colours).toBeGreaterThan(2);
      await page.click("[data-again]");
      await page.waitForSelector("[data-live]:visible");
      await page.click("[data-take]");
      await press(page, "[data-keep] button");

      await page.click("[data-open]");
      await page.click("[data-take]");
      await page.waitForSelector("[data-playback]:visible");
      expect(await page.evaluate("document.querySelector('[data-playback]').play().then(() => 'plays')")).toBe("plays");
      expect(await page.evaluate("document.querySelector('[data-live]').srcObject")).toBe(null);
      await press(page, "[data-keep] button");
      await press(page, nextButton);
      await page.waitForSelector(".outcome.success");

      expect(await objectAt(sandbox.url, providerId)).toMatchObject({ verdict: "APPROVED", document_type: "passport" });
      expect([...origins]).toEqual([new URL(sandbox.url).origin]);
      expect(Math.max(...bodies.map(({ length }) => length))).toBeLessThan(40);
      expect(problems).toEqual([]);
      await page.context().close();
    });

    test("the camera step of the verification page explains how to permit a denied camera, and accepts a sample picture", async () => {
      const page = await aPage({ permissions: [] });
      const { linkUrl } = await aLink();
      await page.goto(linkUrl);
      await press(page, nextButton);
      await page.check("[value=id_card]");
      await press(page, nextButton);
      await page.click("[data-open]");
      await page.getByText("Allow it in the settings of your browser").waitFor();
      expect(await page.getAttribute("[data-message]", "role")).toBe("status");
      while ((await page.locator(sampleButton).count()) > 0) await press(page, sampleButton);
      await press(page, nextButton);
      await page.waitForSelector(".outcome.success");
      await page.context().close();
    });

    test("the verification page can be completed with the keyboard only", async () => {
      const page = await aPage();
      const tabTo = async (selector: string) => {
        for (let presses = 0; presses < 30; presses += 1) {
          if (await page.evaluate(`document.activeElement.matches(${JSON.stringify(selector)})`)) return;
          await page.keyboard.press("Tab");
        }
        throw new Error(`Tab did not reach ${selector}`);
      };
      const pressKey = async (selector: string) => {
        await tabTo(selector);
        await Promise.all([page.waitForEvent("load"), page.keyboard.press("Enter")]);
      };
      const { linkUrl, reference } = await aLink();
      await page.goto(linkUrl);
      await pressKey(".primary");
      await tabTo("[type=radio]");
      await page.keyboard.press("Space");
      await page.keyboard.press("ArrowDown");
      expect(await page.isChecked("[value=passport]")).toBe(true);
      await pressKey(".primary");
      await pressKey(sampleButton);
      await pressKey(sampleButton);
      await pressKey(".flow > form[data-once] .primary");
      await page.waitForSelector(".outcome.success");
      await tabTo("a[data-return]");
      await page.keyboard.press("Enter");
      await page.waitForURL(`${shop.url}/**`);
      expect(visits(reference)).toEqual([`/back?basket=7&application_id=${reference}&status=COMPLETED`]);
      await page.context().close();
    });

    test("the verification page can be completed without scripts, and reloads itself while the check is in progress", async () => {
      const page = await aPage({ javaScriptEnabled: false });
      const { linkUrl, reference } = await aLink({ require_video: false, locale: "fr" });
      await page.goto(linkUrl);
      await page.click(nextButton);
      await page.check("[value=id_card]");
      await page.click(nextButton);
      expect(await page.locator("[data-open]:visible, [data-take]:visible, [data-keep]:visible").count()).toBe(0);
      await page.click(sampleButton);
      await page.getByText("verso").waitFor();
      await page.click(sampleButton);
      await page.check("[value=still]");
      await page.click(nextButton);
      await page.getByText("Photographiez votre visage").waitFor();
      await page.click(sampleButton);
      await page.click(nextButton);
      await page.getByText("Nous vérifions votre identité").waitFor();
      await page.getByText("Nous examinons votre dossier").waitFor();
      await page.click("a[data-return]");
      await page.waitForURL(`${shop.url}/**`);
      expect(visits(reference)).toHaveLength(1);
      await page.context().close();
    });

    test("the verification page lets the applicant repeat each step without losing the other steps", async () => {
      const page = await aPage();
      const { linkUrl } = await aLink();
      await completeStepsUntilReview(page, linkUrl, "id_card");
      expect(await page.locator(".review-list li").count()).toBe(4);
      await press(page, "[aria-label='Change: Back photographed']");
      expect(await heading(page)).toBe("Photograph the back of your card");
      await press(page, sampleButton);
      await press(page, "[aria-label='Change: Document chosen']");
      expect(await heading(page)).toBe("Which document will you present?");
      await page.check("[value=passport]");
      await press(page, nextButton);
      expect(await heading(page)).toBe("Photograph the identity page of your passport");
      await press(page, sampleButton);
      expect(await page.locator(".review-list li").count()).toBe(3);
      for (const step of [3, 2, 1]) {
        await press(page, ".undo .quiet >> nth=-1");
        expect(await page.textContent(".steps p")).toBe(`Step ${step} of 4`);
      }
      await press(page, ".undo .quiet >> nth=-1");
      expect(await heading(page)).toBe("Let us verify your identity");
      await page.context().close();
    });

    test.each([true, false])(
      "the verification page makes only one submission despite a double click, a second tab, a reload and Back (scripts allowed: %s)",
      async (javaScriptEnabled) => {
        const page = await aPage({ javaScriptEnabled });
        const { linkUrl, providerId } = await aLink();
        await completeStepsUntilReview(page, linkUrl);
        const secondTab = await page.context().newPage();
        secondTab.setDefaultTimeout(90_000);
        await secondTab.goto(linkUrl);
        await page.dblclick(nextButton);
        await page.waitForSelector(".outcome.success");
        await secondTab.click(nextButton);
        await secondTab.waitForSelector(".outcome.success");
        await page.reload();
        await page.goBack();
        await page.waitForSelector(".outcome.success");
        expect(await objectAt(sandbox.url, providerId)).toMatchObject({ attempts_used: 1, sequence: 5 });
        await page.context().close();
      },
    );

    test("the verification page applies the tester's outcome, and permits a new attempt after a technical failure", async () => {
      const page = await aPage();
      const { linkUrl, providerId } = await aLink({ max_attempts: 2 });
      const choose = async (outcome: string, reason?: string) => {
        await page.goto(linkUrl);
        await page.click(".tester-link a");
        await page.check(`[name=outcome][value=${outcome}]`);
        if (reason) await page.check(`[value=${reason}]`);
        await page.fill("#nationality", "tun");
        await page.click(nextButton);
        await page.waitForSelector(".saved");
      };
      await choose("failed");
      await completeStepsUntilReview(page, linkUrl);
      await press(page, nextButton);
      await page.getByText("You have 1 attempt left.").waitFor();
      expect(await objectAt(sandbox.url, providerId)).toMatchObject({ status: "FAILED" });
      await press(page, nextButton);
      expect(await heading(page)).toBe("Which document will you present?");
      await choose("rejected", "FACE_MISMATCH");
      await page.goto(linkUrl);
      await page.check("[value=passport]");
      await press(page, nextButton);
      while ((await page.locator(sampleButton).count()) > 0) await press(page, sampleButton);
      await press(page, nextButton);
      await page.waitForSelector(".outcome.danger");
      expect(await page.textContent(".reasons")).toContain("The face could not be matched");
      expect(await objectAt(sandbox.url, providerId)).toMatchObject({
        verdict: "REJECTED",
        attempts_used: 2,
        nationality: "TUN",
        reason_codes: [{ code: "FACE_MISMATCH" }],
      });
      await page.context().close();
    });

    test("the verification page keeps the chosen language through all steps", async () => {
      const page = await aPage();
      const { linkUrl } = await aLink({ locale: "fr" });
      await page.goto(linkUrl);
      await page.waitForSelector("html[lang=fr]");
      await page.click("nav [lang=ar]");
      await page.waitForSelector("html[lang=ar][dir=rtl]");
      await press(page, nextButton);
      await page.check("[value=passport]");
      await press(page, nextButton);
      await press(page, sampleButton);
      await press(page, sampleButton);
      await press(page, nextButton);
      await page.waitForSelector("html[lang=ar] .outcome.success");
      await page.context().close();
    });

    test("the verification page returns to the institution automatically if the applicant has not chosen to stay", async () => {
      for (const stays of [true, false]) {
        const { linkUrl, token, reference } = await aLink();
        await kycControl(sandbox.url, token, "submit", { outcome: "approved" });
        const page = await aPage();
        await page.clock.install();
        await page.goto(linkUrl);
        await page.waitForSelector("[data-stay]:visible");
        if (stays) await page.click("[data-stay]");
        await page.clock.runFor(20_000);
        if (!stays) await page.waitForURL(`${shop.url}/**`);
        expect(visits(reference)).toHaveLength(stays ? 0 : 1);
        await page.context().close();
      }
    });

    test("the verification page sets the status OPENED for a GET request, but not for a HEAD request", async () => {
      const page = await aPage();
      const { linkUrl, token } = await aLink();
      await fetch(linkUrl, { method: "HEAD" });
      expect((await control(sandbox.url, "GET", `kyc/${token}`)).body.status).toBe("CREATED");
      await page.goto(linkUrl);
      expect((await control(sandbox.url, "GET", `kyc/${token}`)).body.status).toBe("OPENED");
      await page.context().close();
    });
  },
);
