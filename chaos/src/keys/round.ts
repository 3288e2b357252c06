import { sleep } from "@amana/runtime";
import type { Random } from "../random.ts";
import type { Report } from "../report.ts";
import type { KeysSystem } from "./keys-system.ts";
import { createVictim, type RevocationMethod } from "./revoke.ts";
import { revokeUnderLoad } from "./revoke-under-load.ts";

export type Fault = "none" | "identity killed" | "gateway frozen";

/**
 * Sends requests with a key to both gateways, and revokes the key during a fault. Checks that every
 * request after the response to the revocation is rejected.
 */
export async function playRound(
  { system, identities, gateways }: KeysSystem,
  round: { number: number; method: RevocationMethod; fault: Fault; random: Random; report: Report },
): Promise<void> {
  const { number, method, fault, random, report } = round;
  const urls = gateways.map(({ url }) => url);
  const victim = await createVictim(system.gatewayUrl, system.adminKey, number);
  const { adminKey } = system;
  const name = `${fault}, round ${number}`;
  await revokeUnderLoad({ urls, adminKey, victim, method, name, workers: 3, pauseMsMax: 8, random, report, startFault });

  function startFault() {
    const frozenIndex = fault === "gateway frozen" ? random.integer(0, gateways.length - 1) : -1;
    const pid = gateways[frozenIndex]?.process.pid();
    if (pid !== undefined) {
      process.kill(pid, "SIGSTOP");
      report.count("gateways frozen (SIGSTOP)");
    }
    const killing = fault === "identity killed" ? killIdentity() : undefined;
    const end = async () => {
      if (pid !== undefined) process.kill(pid, "SIGCONT");
      await killing;
    };
    return { reachable: urls.filter((_, i) => i !== frozenIndex), end };
  }

  async function killIdentity(): Promise<void> {
    await sleep(random.integer(10, 500));
    const identity = random.pick(identities);
    await identity.kill();
    report.count("identities killed (-9)");
    await identity.start();
  }
}
