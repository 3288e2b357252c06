import { Buyer, type FormValues, type LoadedPage } from "@amana/dev-env/buyer";
import { validCard } from "@amana/e2e/test-system";
import { sleep } from "@amana/runtime";
import type { Random } from "../random.ts";
import type { Report } from "../report.ts";
import type { Link } from "./link.ts";
import { type LinksSystem, windowSeconds } from "./links-system.ts";

const behaviours = [
  "pays",
  "pays",
  "presses the button twice",
  "uses two tabs",
  "loses the response",
  "begins again",
  "cancels",
  "leaves",
  "pays late",
] as const;

/** Pauses before the repetitions of a request that got no response. */
const repeatPausesMs = [200, 500, 1_000, 2_000, 3_000, 3_000];

interface Attempt {
  readonly links: LinksSystem;
  readonly link: Link;
  readonly random: Random;
  readonly report: Report;
  readonly buyer: Buyer;
}

/** Simulates one buyer of a link, from the first page to the end of the payment. */
export async function buyByLink(links: LinksSystem, link: Link, random: Random, report: Report): Promise<void> {
  const behaviour = random.pick(behaviours);
  const attempt = { links, link, random, report, buyer: new Buyer(link.url) };
  report.count(`buyers: ${behaviour}`);
  const page = await untilResponse(() => attempt.buyer.open());
  if (!page || !hasForm(page)) return;
  // Opens the page in a second tab before the first tab starts a payment.
  const otherTab = behaviour === "uses two tabs" ? await untilResponse(() => attempt.buyer.open()) : undefined;
  const started = await start(attempt, page, behaviour);
  if (!started) return;
  if (otherTab && hasForm(otherTab)) {
    link.tabs.push([formTokenOf(page), formTokenOf(otherTab)]);
    await submit(attempt, otherTab);
  }
  if (behaviour === "begins again") {
    const again = await untilResponse(() => attempt.buyer.open("?again=1"));
    if (again && hasForm(again)) await submit(attempt, again);
  }
  if (behaviour === "pays late") await sleep(windowSeconds * 1_000 + random.integer(200, 2_500));
  if (behaviour === "leaves") return;
  await finishOrder(attempt, started, behaviour === "cancels" ? "cancel" : "pay");
}

/**
 * Sends the form in the way that `behaviour` requires. Returns the address of the card form, or
 * undefined if the gateway does not redirect to it.
 */
async function start(attempt: Attempt, page: LoadedPage, behaviour: (typeof behaviours)[number]): Promise<string | undefined> {
  const { report, random } = attempt;
  if (behaviour === "presses the button twice") {
    const [first, second] = await Promise.all([submit(attempt, page), submit(attempt, page)]);
    if (first && second) report.check("a double click leads to one card form", first === second, () => `${first}, ${second}`);
    return first ?? second;
  }
  if (behaviour === "loses the response") {
    const abandoned = submit(attempt, page);
    await Promise.race([abandoned, sleep(random.integer(1, 150))]);
    const repeated = await submit(attempt, page);
    await abandoned;
    return repeated;
  }
  return await submit(attempt, page);
}

/** Sends the form until the gateway responds. Returns the address of the card form. */
async function submit(attempt: Attempt, page: LoadedPage): Promise<string | undefined> {
  const { link, report, random, buyer } = attempt;
  link.formTokens.add(formTokenOf(page));
  const values: FormValues = link.hasRange ? { amount: `${random.integer(100, 9_000)}.00` } : {};
  const response = await untilResponse(() => buyer.submit(page, values));
  if (!response) return undefined;
  report.count(`forms with the response ${response.status}`);
  const { status, location } = response;
  if (status !== 303 || location === undefined || location.includes("/result/")) return undefined;
  const orderId = new URL(location).pathname.split("/").at(-1) ?? "";
  link.orderIds.add(orderId);
  return location;
}

/** Pays or cancels the order at the sandbox. Opens the address to which the sandbox redirects. */
async function finishOrder({ links, buyer, report }: Attempt, cardForm: string, action: "pay" | "cancel"): Promise<void> {
  const orderId = new URL(cardForm).pathname.split("/").at(-1);
  const response = await fetch(`${links.system.sandboxUrl}/sandbox/payments/${orderId}/${action}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(action === "pay" ? validCard : {}),
  });
  const { redirect_url } = (await response.json()) as { redirect_url?: string };
  report.count(`orders: ${action}, status ${response.status}`);
  if (redirect_url === undefined) return;
  const returned = await untilResponse(() => buyer.read(redirect_url));
  if (returned?.location !== undefined) await untilResponse(() => buyer.read(returned.location ?? ""));
}

/**
 * Sends a request. Repeats it if it gets no response or a temporary error. Returns undefined if all
 * attempts fail.
 */
async function untilResponse(send: () => Promise<LoadedPage>): Promise<LoadedPage | undefined> {
  for (const pauseMs of repeatPausesMs) {
    const page = await send().catch(() => undefined);
    if (page && page.status < 500 && page.status !== 429) return page;
    await sleep(pauseMs);
  }
  return undefined;
}

const formTokenPattern = /name="form_token" value="([\w-]+)"/;
const hasForm = ({ html }: LoadedPage) => formTokenPattern.test(html);
export const formTokenOf = ({ html }: LoadedPage): string => formTokenPattern.exec(html)?.[1] ?? "";
