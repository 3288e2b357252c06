import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { CreatePaymentLinkBody, Payment, PaymentLink } from "@amana/client";
import type { Language } from "@amana/pages";
import type { Browser, BrowserContext, Page, Response } from "playwright-core";
import type { Api } from "../connect.ts";
import type { Card } from "./cards.ts";
import { type CheckResult, type PointResult, resultKey } from "./evidence.ts";

/** A point of the processor's acceptance list. */
export interface Point {
  /** Short name that identifies the point in `--only` and in file names. */
  readonly id: string;
  readonly title: string;
  readonly requirement: string;
  /** Whether the point is checked in each chosen language, or only in the first one. */
  readonly languages: "each" | "first";
  /** Records checks and screenshots of the point. Throws NotApplicable or PointStopped. */
  verify(run: PointRun): Promise<void>;
}

/** Thrown by a point that does not apply to the deployment. The message is the reason. */
export class NotApplicable extends Error {}
/** Thrown if a point cannot be completed. The message contains the reason or the next step. */
export class PointStopped extends Error {}

export interface PointRunOptions {
  readonly folder: string;
  readonly language: Language;
  /** Amount of the payments, such as "2500.00". */
  readonly amount: string;
  /** Whether a person enters the cards in a visible browser. */
  readonly byHand: boolean;
  readonly progress: (text: string) => void;
}

type OpenOptions = { readonly javaScriptEnabled?: boolean };

const pageTimeoutMs = 20_000;
const byHandTimeoutMs = 15 * 60_000;
const widths = [1280, 390] as const;
const heightPx = 900;
/** Maximum number of requests for one page if each response has status 429. */
const attemptsMax = 10;
/** The processor blocks a card after three wrong passwords. */
const passwordAttempts = 3;
const backToSeller = "a[data-return]";

/**
 * The run of one point in one language. Creates payment links, opens pages as a buyer, and records
 * checks and screenshots. Its disposal closes the browser windows and deactivates the links.
 */
export class PointRun implements AsyncDisposable {
  readonly api: Api;
  readonly options: PointRunOptions;
  readonly checks: CheckResult[] = [];
  readonly files: { name: string; caption: string }[] = [];
  readonly #browser: Browser;
  readonly #contexts: BrowserContext[] = [];
  readonly #links: string[] = [];
  readonly #prefix: string;

  constructor(api: Api, browser: Browser, options: PointRunOptions, point: string) {
    this.api = api;
    this.options = options;
    this.#browser = browser;
    this.#prefix = resultKey(point, options.language);
  }

  get language(): Language {
    return this.options.language;
  }

  /** Records a check. `found` is shown if the check fails. */
  check(text: string, holds: boolean, found?: string): void {
    this.checks.push({ text, holds, ...(!holds && found !== undefined && { found: found.slice(0, 300) }) });
  }

  async createLink(changes: Partial<CreatePaymentLinkBody> = {}): Promise<PaymentLink> {
    const { amount, language } = this.options;
    const fields = { name: "Acceptance test", amount, language: language.toUpperCase() as "FR", ...changes };
    const link = await this.api.amana.paymentLinks.create(fields, this.api.requestOptions());
    this.#links.push(link.id);
    return link;
  }

  /** Creates a payment link and opens its page. */
  async openNewLink(changes?: Partial<CreatePaymentLinkBody>, options?: OpenOptions) {
    const link = await this.createLink(changes);
    return { link, ...(await this.open(link.url, options)) };
  }

  /** Opens an address as a new buyer, without cookies. */
  async open(url: string, options: OpenOptions = {}): Promise<{ page: Page; response: Response }> {
    const context = await this.#browser.newContext({ viewport: { width: widths[0], height: heightPx }, ...options });
    this.#contexts.push(context);
    const page = await context.newPage();
    page.setDefaultTimeout(pageTimeoutMs);
    return { page, response: await this.goTo(page, url) };
  }

  /** Opens an address. After a response with status 429, waits for Retry-After and tries again. */
  async goTo(page: Page, url: string): Promise<Response> {
    for (let attempt = 1; ; attempt++) {
      const response = await page.goto(url);
      if (!response) throw new PointStopped(`${url} did not respond.`);
      if (response.status() !== 429 || attempt === attemptsMax) return response;
      await page.waitForTimeout((Number(response.headers()["retry-after"]) || 1) * 1_000);
    }
  }

  /** Stores screenshots at a desktop and a phone width. Checks that the page fits each width. */
  async takeScreenshots(page: Page, caption: string): Promise<void> {
    for (const width of widths) {
      await page.setViewportSize({ width, height: heightPx });
      const root = "document.documentElement";
      const isWider = await page.evaluate<boolean>(`${root}.scrollWidth > ${root}.clientWidth`);
      this.check(`The page fits a width of ${width} pixels (${caption}).`, !isWider);
      await this.addFile(`${width}.png`, await page.screenshot({ fullPage: true }), `${caption}, ${width} pixels wide`);
    }
    await page.setViewportSize({ width: widths[0], height: heightPx });
  }

  async addFile(end: string, content: Uint8Array, caption: string): Promise<void> {
    const name = `${this.#prefix}-${this.files.length + 1}-${end}`;
    await writeFile(join(this.options.folder, "files", name), content);
    this.files.push({ name, caption });
  }

  /** Accepts the conditions, waits until the captcha is solved and presses the button to pay. */
  async pressPay(page: Page): Promise<void> {
    await page.locator("#conditions").check();
    const widget = page.locator("altcha-widget");
    if ((await widget.count()) > 0) await page.waitForSelector('.altcha[data-state="verified"]');
    await page.locator("button.pay").click();
    await page.waitForURL((url) => !url.pathname.startsWith("/pay/") || isResult(url));
  }

  /** Enters the card on the processor's form, and waits for the result page. */
  async enterCard(page: Page, card: Card): Promise<void> {
    const { byHand } = this.options;
    if (byHand)
      return await this.#letPersonAct(page, `Pay in the browser with the card "${card.name}" (ends in ${card.pan.slice(-4)}).`);
    await this.requireSandboxForm(page);
    await page.locator("[name=pan]").fill(card.pan);
    await page.locator("[name=expiry]").fill(card.expiry);
    await page.locator("[name=cvv2]").fill(card.cvv2);
    await page.locator("[name=cvv2]").press("Enter");
    const password = page.locator("[name=password]");
    const back = page.locator(backToSeller);
    // The sandbox declines some cards before it requests the password.
    await password.or(back).first().waitFor();
    for (let attempt = 1; (await back.count()) === 0 && attempt <= passwordAttempts; attempt++) {
      await password.fill(card.password);
      await Promise.all([page.waitForEvent("load"), password.press("Enter")]);
    }
    await this.#returnToSeller(page);
  }

  /** Follows the return link on the sandbox's last page, to avoid the wait for its redirect. */
  async #returnToSeller(page: Page): Promise<void> {
    await page.locator(backToSeller).click();
    await page.waitForURL(isResult);
  }

  /** Prints an instruction for the person at the browser, and waits for the result page. */
  async #letPersonAct(page: Page, instruction: string): Promise<void> {
    this.options.progress(`  ${instruction}`);
    await page.waitForURL(isResult, { timeout: byHandTimeoutMs });
  }

  /** Cancels the payment on the processor's form, and waits for the result page. */
  async cancelAtProcessor(page: Page): Promise<void> {
    if (this.options.byHand) return await this.#letPersonAct(page, "Cancel the payment in the browser.");
    await this.requireSandboxForm(page);
    await page.locator("form.cancel button").click();
    await this.#returnToSeller(page);
  }

  private async requireSandboxForm(page: Page): Promise<void> {
    if ((await page.locator("[name=pan]").count()) > 0) return;
    throw new PointStopped(
      "The page is not the card form of the sandbox. Run the command with --by-hand and enter the card yourself.",
    );
  }

  /** Returns the link's only payment. Throws PointStopped if it has none or more than one. */
  async paymentOf(link: PaymentLink): Promise<Payment> {
    const { items } = await this.api.amana.payments.list({ payment_link_id: link.id }).page();
    const [payment] = items;
    if (items.length !== 1 || !payment) throw new PointStopped(`The link has ${items.length} payments, expected one.`);
    return payment;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const context of this.#contexts) await context.close();
    for (const id of this.#links) await this.api.amana.paymentLinks.update(id, { status: "INACTIVE" });
  }
}

const isResult = ({ pathname }: URL) => pathname.includes("/result/");

/** Returns the visible text, without bidirectional control characters and no-break spaces. */
export async function textOf(page: Page, selector = "body"): Promise<string> {
  // biome-ignore lint/performance/useDomNodeTextContent: text that the page hides must not count
  const shownText = await page.locator(selector).first().innerText();
  const text = shownText.replaceAll(/[\u200e\u200f\u2066-\u2069]/g, "");
  return text.replaceAll(/[\u00a0\u202f]/g, " ");
}

/** Returns the result of a finished point. A point without any check has failed. */
export function statusOf(checks: readonly CheckResult[]): PointResult["status"] {
  return checks.length > 0 && checks.every(({ holds }) => holds) ? "passed" : "failed";
}
