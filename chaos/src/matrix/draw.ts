import type { KycProvider } from "@amana/dev-env/services";
import { revocationMethods } from "../keys/revoke.ts";
import { createRandom, type Random } from "../random.ts";
import { drawRequests } from "../refunds/scenario.ts";
import { type Cell, cellsOf, type Need } from "./cells.ts";
import type { Fault, Schedule, VerificationEnd, Work } from "./schedule.ts";

const portEnds: readonly VerificationEnd[] = ["approved", "rejected", "reviewed", "canceled"];
const vendorEnds: readonly VerificationEnd[] = [...portEnds, "reversed", "vendor_reviewed"];
/**
 * Possible ends of a verification for each provider. Only Sumsub has "retried", because a session
 * of Didit has only one attempt.
 */
const endsOf: Readonly<Record<KycProvider, readonly VerificationEnd[]>> = {
  port: portEnds,
  didit: vendorEnds,
  sumsub: [...vendorEnds, "retried"],
};
const faultsMax = 3;

/**
 * Returns schedule `number` of a seed for a system with this verification provider. The first fault
 * is from the next cell of a shuffled list, so that no cell is repeated before all cells were used.
 * The other faults are random.
 */
export function drawSchedule(seed: number, number: number, provider: KycProvider = "port"): Schedule {
  const cells = cellsOf(provider);
  const round = Math.floor(number / cells.length);
  const firstCell = shuffleCells(cells, createRandom(seed + round * 1_000_003))[number % cells.length] as Cell;
  const random = createRandom(Math.imul(seed + 1, 2_654_435_761) + number);
  const chosenCells = [firstCell];
  for (let remaining = random.integer(0, faultsMax - 1); remaining > 0; remaining--) {
    const nextCell = random.pick(cells);
    if (!chosenCells.some(({ group }) => group === nextCell.group)) chosenCells.push(nextCell);
  }
  const faults = chosenCells.map((cell) => {
    const fault = cell.draw(random);
    return { atMs: drawTime(random, fault, cell === firstCell), ...fault };
  });
  const needs = chosenCells.flatMap((cell) => cell.needs ?? []);
  return { ...(provider !== "port" && { kycProvider: provider }), work: drawWork(random, needs, provider), faults };
}

/**
 * Draws the time of a fault. A fault that waits for a call is usually set before the work starts.
 * If it were set later, the work might already have made its last call.
 */
function drawTime(random: Random, { kind }: Pick<Fault, "kind">, isFirst: boolean): number {
  const waits = kind === "point" || kind === "answers" || kind === "way";
  return waits && (isFirst || random.chance(0.7)) ? 0 : random.integer(0, 40) * 50;
}

function drawWork(random: Random, needs: readonly Need[], provider: KycProvider): Work[] {
  const ends = endsOf[provider];
  const otherNeeds: readonly Need[] = provider === "port" ? ["refund", "refund", "verification", "key"] : ends;
  const kinds = new Set(needs);
  if (kinds.size === 0 || random.chance(0.3)) kinds.add(random.pick(otherNeeds));
  // A replay needs delivered events, so the schedule also contains a refund, which causes events.
  if (kinds.has("replay")) kinds.add("refund");
  const work = [...kinds].map((need): Work => {
    const atMs = random.integer(0, 12) * 50;
    if (need === "refund") return { atMs, kind: "refund", course: drawScenario(random) };
    if (need === "key") return { atMs, kind: "key", way: random.pick(revocationMethods) };
    if (need === "replay") return { atMs: 1_000 + atMs, kind: "replay" };
    const end = need === "verification" ? random.pick(ends) : need;
    return { atMs, kind: "verification", end, ofClient: random.chance(0.5) };
  });
  return work;
}

/** Draws only refund requests, because the schedule itself contains the processor's faults. */
const drawScenario = (random: Random) => ({ asks: drawRequests(random), atOnce: random.chance(0.3), rollsBack: false });

function shuffleCells(cells: readonly Cell[], random: Random): Cell[] {
  return cells
    .map((cell) => ({ cell, at: random.next() }))
    .sort((a, b) => a.at - b.at)
    .map(({ cell }) => cell);
}
