import { ways } from "../keys/take-away.ts";
import { createRandom, type Random } from "../random.ts";
import { drawAsks } from "../refunds/course.ts";
import { type Cell, cells, type Need } from "./cells.ts";
import type { Fault, Schedule, VerificationEnd, Work } from "./schedule.ts";

const ends: readonly VerificationEnd[] = ["approved", "rejected", "reviewed", "canceled"];
const faultsMax = 3;

/**
 * The schedule of this number in the run of this seed. Each cell leads one schedule before any
 * leads a second one; what else goes wrong in it is left to chance.
 */
export function drawSchedule(seed: number, number: number): Schedule {
  const round = Math.floor(number / cells.length);
  const first = shuffled(createRandom(seed + round * 1_000_003))[number % cells.length] as Cell;
  const random = createRandom(Math.imul(seed + 1, 2_654_435_761) + number);
  const chosen = [first];
  for (let more = random.integer(0, faultsMax - 1); more > 0; more--) {
    const another = random.pick(cells);
    if (!chosen.some(({ alone }) => alone === another.alone)) chosen.push(another);
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

/** What is planted or armed waits for who comes there, so as a rule it comes before the work. */
function drawTime(random: Random, { kind }: Pick<Fault, "kind">, isFirst: boolean): number {
  const waits = kind === "point" || kind === "answers" || kind === "way";
  return waits && (isFirst || random.chance(0.7)) ? 0 : random.integer(0, 40) * 50;
}

function drawWork(random: Random, needs: readonly Need[]): Work[] {
  const wanted = new Set(needs);
  if (wanted.size === 0 || random.chance(0.3)) wanted.add(random.pick(["refund", "refund", "verification", "key"] as const));
  // There must be something to be told again.
  if (wanted.has("replay")) wanted.add("refund");
  const work = [...wanted].map((need): Work => {
    const atMs = random.integer(0, 12) * 50;
    if (need === "refund") return { atMs, kind: "refund", course: drawCourse(random) };
    if (need === "key") return { atMs, kind: "key", way: random.pick(ways) };
    if (need === "replay") return { atMs: 1_000 + atMs, kind: "replay" };
    const end = need === "verification" ? random.pick(ends) : need;
    return { atMs, kind: "verification", end, ofClient: random.chance(0.5) };
  });
  return work;
}

/** What the processor does is the faults' part here, so the course only asks. */
const drawCourse = (random: Random) => ({ asks: drawAsks(random), atOnce: random.chance(0.3), rollsBack: false });

function shuffled(random: Random): Cell[] {
  return cells
    .map((cell) => ({ cell, at: random.next() }))
    .sort((a, b) => a.at - b.at)
    .map(({ cell }) => cell);
}
