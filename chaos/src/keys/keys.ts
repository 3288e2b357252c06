import { apiCaller } from "@amana/dev-env/demo/api";
import type { Attempt, Program } from "../program.ts";
import { createRandom } from "../random.ts";
import { abuseStolenKey, replayCaptured } from "./captured-tokens.ts";
import { type Fault, playRound } from "./round.ts";
import { startStage } from "./stage.ts";
import { type Way, ways } from "./take-away.ts";

/**
 * Two gateways and two identities whose leases differ in length. Keys are revoked, rotated and
 * disabled under load, while bodies come late, identity is killed between commit and answer, and a
 * gateway is frozen; whatever was sent after the answer was read is refused. Beside it, tokens read
 * off the wire are played at every port, and again when they have ended.
 */
export const keys: Program = {
  attacks: "P4: a key that was taken away is still accepted; a captured token opens another port",
  run,
};

const faults: readonly Fault[] = ["none", "gateway frozen", "identity killed"];

async function run({ seed, signal, report, say }: Attempt): Promise<void> {
  const random = createRandom(seed);
  const leases = [500, random.pick([0, 50, 200])] as const;
  await using stage = await startStage(random.chance(0.5) ? leases : [leases[1], leases[0]]);
  say(`two identities grant ${leases.join(" and ")} ms`);
  const { system, gateways } = stage;
  await abuseStolenKey(stage, report);

  const replaying: Promise<void>[] = [];
  const choices = deck(random);
  // Each fault comes up at least once.
  for (let number = 1; number <= faults.length || !signal.aborted; number++) {
    const { way, fault } = choices();
    await playRound(stage, { number, way, fault, random: random.fork(), report });
    say(`round ${number}: ${way}, ${fault}`);
    // So that there is a fresh token on the wire; the second gateway's way to payments is the one
    // that is read.
    await apiCaller(gateways[1]?.url ?? "", system.business.api_key)("GET", "/api/v1/payments");
    if (replaying.length === 0 || number % 5 === 0) replaying.push(replayCaptured(stage, report));
  }
  await Promise.all(replaying);
}

/** Every fault comes up in each three rounds, every way in each five, in an order of the seed's. */
function deck(random: ReturnType<typeof createRandom>): () => { way: Way; fault: Fault } {
  const shuffled = <T>(all: readonly T[]) => {
    const left: T[] = [];
    return () => {
      if (left.length === 0)
        left.push(
          ...all
            .map((one) => ({ one, at: random.next() }))
            .sort((a, b) => a.at - b.at)
            .map(({ one }) => one),
        );
      return left.pop() as T;
    };
  };
  const [nextWay, nextFault] = [shuffled(ways), shuffled(faults)];
  return () => {
    const [way, fault] = [nextWay(), nextFault()];
    // After its own key is gone, a business cannot ask again; only the others can be answered after
    // a kill.
    return { way: fault === "identity killed" && way === "rotate by the business" ? "revoke" : way, fault };
  };
}
