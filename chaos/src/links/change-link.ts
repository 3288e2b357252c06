import { sleep } from "@amana/runtime";
import type { Random } from "../random.ts";
import type { Report } from "../report.ts";
import type { Link } from "./link.ts";
import type { LinksSystem } from "./links-system.ts";

const patchPauseMs = 300;
const patchesMax = 60;
/** Time after which a link expires, from the change that sets its expiry. */
const lifetimeMs = 1_500;

/**
 * Changes a link while buyers use it. Records the periods in which no payment may begin: after the
 * response to a deactivation, and after the link has expired.
 */
export async function changeLink({ database }: LinksSystem, link: Link, random: Random, report: Report): Promise<void> {
  if (link.change === "none") return;
  await sleep(random.integer(0, 800));
  report.count(`links: ${link.change}`);
  const now = async () => (await database.query<{ now: Date }>("select clock_timestamp() as now")).rows[0]?.now ?? new Date();
  if (link.change === "raise the limit") {
    const { maxPayments } = link;
    if (maxPayments !== undefined) await patchUntilSuccess(link, () => ({ max_payments: maxPayments + random.integer(1, 3) }));
    return;
  }
  if (link.change === "deactivate") {
    await patchUntilSuccess(link, () => ({ status: "INACTIVE" }));
    const from = await now();
    await sleep(random.integer(200, 2_000));
    link.closed.push({ from, until: await now(), reason: "deactivated" });
    await patchUntilSuccess(link, () => ({ status: "ACTIVE" }));
    return;
  }
  let expiresAt = new Date(0);
  await patchUntilSuccess(link, async () => {
    expiresAt = new Date((await now()).getTime() + lifetimeMs);
    return { expires_at: expiresAt.toISOString() };
  });
  await sleep(lifetimeMs + random.integer(500, 2_000));
  link.closed.push({ from: expiresAt, until: await now(), reason: "expired" });
  await patchUntilSuccess(link, () => ({ expires_at: null }));
}

type Changes = Parameters<Link["business"]["amana"]["paymentLinks"]["update"]>[1];

/** Sends a change of the link until a request succeeds. */
async function patchUntilSuccess({ business, id }: Link, changesOf: () => Changes | Promise<Changes>): Promise<void> {
  for (let i = 0; i < patchesMax; i++) {
    const isDone = await business.amana.paymentLinks.update(id, await changesOf()).then(
      () => true,
      () => false,
    );
    if (isDone) return;
    await sleep(patchPauseMs);
  }
  throw new Error(`the link ${id} could not be changed`);
}
