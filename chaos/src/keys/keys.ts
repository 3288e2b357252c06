import { apiCaller } from "@amana/dev-env/demo/api";
import type { Program, ProgramRun } from "../program.ts";
import { createRandom } from "../random.ts";
import { callWithStolenKey, replayCapturedToken } from "./captured-tokens.ts";
import { startKeysSystem } from "./keys-system.ts";
import { type RevocationMethod, revocationMethods } from "./revoke.ts";
import { type Fault, playRound } from "./round.ts";

/**
 * Revokes, rotates and disables keys under load, with two gateways and two identity replicas whose
 * leases have different lengths. Meanwhile, callers send request bodies slowly, and the program
 * kills identity between its commit and its response, or freezes a gateway. No request that is sent
 * after the response to the revocation may be accepted. In parallel, the program sends captured
 * caller tokens to every RPC port.
 */
export const keysProgram: Program = {
  summary:
    "P4: revoke keys under load with faults, and replay captured caller tokens; no revoked key or foreign token is accepted",
  run,
};

const faults: readonly Fault[] = ["none", "gateway frozen", "identity killed"];

async function run({ seed, signal, report, log }: ProgramRun): Promise<void> {
  const random = createRandom(seed);
  const leases = [500, random.pick([0, 50, 200])] as const;
  await using keysSystem = await startKeysSystem(random.chance(0.5) ? leases : [leases[1], leases[0]]);
  log(`two identities grant leases of ${leases.join(" and ")} ms`);
  const { system, gateways } = keysSystem;
  await callWithStolenKey(keysSystem, report);

  const replays: Promise<void>[] = [];
  const nextChoice = createChoices(random);
  // Runs at least one round for each fault.
  for (let number = 1; number <= faults.length || !signal.aborted; number++) {
    const { method, fault } = nextChoice();
    await playRound(keysSystem, { number, method, fault, random: random.fork(), report });
    log(`round ${number}: ${method}, ${fault}`);
    // The proxy between the second gateway and payments captures the caller token of this request.
    await apiCaller(gateways[1]?.url ?? "", system.business.api_key)("GET", "/api/v1/payments");
    if (replays.length === 0 || number % 5 === 0) replays.push(replayCapturedToken(keysSystem, report));
  }
  await Promise.all(replays);
}

/**
 * Returns a function that chooses the revocation method and the fault of the next round. No fault
 * is repeated before all faults were used, and no method before all methods were used. The seed
 * determines the order.
 */
function createChoices(random: ReturnType<typeof createRandom>): () => { method: RevocationMethod; fault: Fault } {
  const createShuffledPicker = <T>(all: readonly T[]) => {
    const remaining: T[] = [];
    return () => {
      if (remaining.length === 0)
        remaining.push(
          ...all
            .map((item) => ({ item, at: random.next() }))
            .sort((a, b) => a.at - b.at)
            .map(({ item }) => item),
        );
      return remaining.pop() as T;
    };
  };
  const [nextMethod, nextFault] = [createShuffledPicker(revocationMethods), createShuffledPicker(faults)];
  return () => {
    const [method, fault] = [nextMethod(), nextFault()];
    // If identity is killed before its response, the business would have to repeat the rotation
    // with the key that it has already rotated. The API rejects this key.
    return { method: fault === "identity killed" && method === "rotate by the business" ? "revoke" : method, fault };
  };
}
