import { sleep } from "@amana/runtime";
import { extendSignal } from "../extend-signal.ts";
import type { Program, ProgramRun } from "../program.ts";
import { createRandom, type Random } from "../random.ts";
import { injectFaults } from "../refunds/inject-faults.ts";
import type { Report } from "../report.ts";
import { buyByLink } from "./buy-by-link.ts";
import { changeLink } from "./change-link.ts";
import { checkLinks, watchSlots } from "./check-links.ts";
import { disableBusiness, disabledClaim } from "./disable-business.ts";
import { createLink, drawScenario, type Link } from "./link.ts";
import { type LinksSystem, startLinksSystem } from "./links-system.ts";

const workerCount = 4;
const linksMin = 4;
/**
 * Maximum time for which a process is frozen. It is shorter than the time within which a buyer must
 * pay, so that a frozen process does not settle a payment too late.
 */
const frozenMsMax = 2_000;
/**
 * Step of a wall clock. It is longer than the time within which a buyer must pay. It is shorter
 * than the lifetime of a caller token (10 s), so that payments still accepts some tokens.
 */
const clockStepMs = 8_000;
const refundShare = 0.2;

/**
 * Simulates buyers who open, send, repeat and abandon the forms of payment links, while the
 * business changes the links or is disabled. Meanwhile, the program kills and freezes two payments
 * processes and the gateway, cuts database connections, and steps wall clocks.
 */
export const linksProgram: Program = {
  summary:
    "P13: pay by links while processes are killed and links change; a form starts one payment at most, and no link exceeds its slots",
  run,
};

async function run({ seed, signal: endSignal, report, log }: ProgramRun): Promise<void> {
  const random = createRandom(seed);
  await using system = await startLinksSystem();
  const played: Link[] = [];
  const hasEnoughWork = () =>
    played.length >= linksMin &&
    [`checked: ${disabledClaim}`, "slots read", "replicas killed (-9)"].every((counter) => report.countOf(counter) > 0);
  // Creates the link before the first fault, because a failed creation is not retried.
  const linkOfDisabled = await createLink(system.disabled, {
    maxPayments: undefined,
    hasRange: false,
    buyers: 0,
    change: "none",
  });
  const signal = extendSignal(endSignal, hasEnoughWork);
  const faults = injectFaults({
    replicas: system.replicas,
    frozenMsMax,
    database: system.database,
    random: random.fork(),
    report,
    signal,
  });
  const watch = new AbortController();
  const watching = watchSlots(system, report, watch.signal);
  const runWorker = async (workerRandom: Random) => {
    while (!signal.aborted) {
      const link = await playLink(system, workerRandom, report).catch(async () => {
        // The creation of the link failed, because the gateway was killed.
        report.count("links not created");
        await sleep(workerRandom.integer(100, 500));
      });
      if (link) played.push(link);
    }
  };
  await Promise.all([
    faults,
    stepClocks(system, random.fork(), report, signal),
    disableBusiness(system, linkOfDisabled, random.fork(), report, signal),
    ...Array.from({ length: workerCount }, () => runWorker(random.fork())),
  ]);
  log(`${played.length} links; waiting for payments in progress`);
  try {
    await checkLinks(system, played, report);
  } finally {
    watch.abort();
    await watching;
  }
}

/** Creates a link. Simulates the link's buyers and, at the same time, changes the link. */
async function playLink(system: LinksSystem, random: Random, report: Report): Promise<Link> {
  const link = await createLink(system.seller, drawScenario(random));
  report.count("links");
  const buyers = Array.from({ length: link.buyers }, () => buyByLink(system, link, random.fork(), report));
  await Promise.all([...buyers, changeLink(system, link, random.fork(), report)]);
  if (random.chance(refundShare)) await refundOne(link, report);
  return link;
}

/** Refunds a payment of the link. The checks then show whether the refund freed a slot. */
async function refundOne({ business, id }: Link, report: Report): Promise<void> {
  const { items } = await business.amana.payments.list({ payment_link_id: id, status: "PAID" }).page();
  const [payment] = items;
  if (!payment) return;
  await business.amana.payments.refund(payment.id, {}).then(
    () => report.count("payments refunded"),
    // The outcome is unknown if a process was killed. payments then finishes the refund by itself.
    () => {},
  );
}

/** Steps the wall clocks of the payments processes ahead, back, and to the real time. */
async function stepClocks({ clocks }: LinksSystem, random: Random, report: Report, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await sleep(random.integer(500, 3_000), signal);
    random.pick(clocks).set(random.pick([-clockStepMs, 0, clockStepMs]));
    report.count("clock steps");
  }
  for (const clock of clocks) clock.set(0);
}
