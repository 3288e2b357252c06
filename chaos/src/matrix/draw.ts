import { ways } from "../keys/revoke.ts";
import { createRandom, type Random } from "../random.ts";
import { drawRequests } from "../refunds/scenario.ts";
import { type Cell, cells, type Need } from "./cells.ts";
import type { Fault, Schedule, VerificationEnd, Work } from "./schedule.ts";

const ends: readonly VerificationEnd[] = ["approved", "rejected", "reviewed", "canceled"];
const faultsMax = 3;

/**
 * Returns schedule `number` of a seed. Each cell is the first fault of one schedule before any cell
 * is the first of a second one. The other faults are random.
 */
export function drawSchedule(seed: number, number: number): Schedule {
  const round = Math.floor(number / cells.length);
  const first = shuffled(createRandom(seed + round * 1_000_003))[number % cells.length] as Cell;
  const random = createRandom(Math.imul(seed + 1, 2_654_435_761) + number);
  const chosen = [first];
  for (let more = random.integer(0, faultsMax - 1); more > 0; more--) {
    const another = random.pick(cells);
    if (!chosen.some(({ group }) => group === another.group)) chosen.push(another);
  }
  const faults = chosen.map((cell) => {
    const fault = cell.draw(random);
    return { atMs: drawTime(random, fault, cell === first), ...fault };
  });
  return {
    work: drawWork(
      random,
      chosen.flatMap(({ needs }) => needs ?? []),
    ),
    faults,
  };
}

/**
 * Draws the time of a fault. A fault that waits for a call usually has to be set before the work.
 */
function drawTime(random: Random, { kind }: Pick<Fault, "kind">, isFirst: boolean): number {
  const waits = kind === "point" || kind === "answers" || kind === "way";
  return waits && (isFirst || random.chance(0.7)) ? 0 : random.integer(0, 40) * 50;
}

function drawWork(random: Random, needs: readonly Need[]): Work[] {
  const kinds = new Set(needs);
  if (kinds.size === 0 || random.chance(0.3)) kinds.add(random.pick(["refund", "refund", "verification", "key"] as const));
  // A replay needs delivered events.
  if (kinds.has("replay")) kinds.add("refund");
  const work = [...kinds].map((need): Work => {
    const atMs = random.integer(0, 12) * 50;
    if (need === "refund") return { atMs, kind: "refund", course: drawScenario(random) };
    if (need === "key") return { atMs, kind: "key", way: random.pick(ways) };
    if (need === "replay") return { atMs: 1_000 + atMs, kind: "replay" };
    const end = need === "verification" ? random.pick(ends) : need;
    return { atMs, kind: "verification", end, ofClient: random.chance(0.5) };
  });
  return work;
}

/** Draws refund requests only, because the faults of the processor belong to the schedule. */
const drawScenario = (random: Random) => ({ asks: drawRequests(random), atOnce: random.chance(0.3), rollsBack: false });

function shuffled(random: Random): Cell[] {
  return cells
    .map((cell) => ({ cell, at: random.next() }))
    .sort((a, b) => a.at - b.at)
    .map(({ cell }) => cell);
}
