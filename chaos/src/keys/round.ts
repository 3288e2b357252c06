import { sleep } from "@amana/runtime";
import type { Random } from "../random.ts";
import type { Report } from "../report.ts";
import type { Stage } from "./stage.ts";
import { aVictim, type Way } from "./take-away.ts";
import { takeAwayUnderLoad } from "./take-away-under-load.ts";

export type Fault = "none" | "identity killed" | "gateway frozen";

/**
 * One key is used on both gateways, taken away while something goes wrong, and must be refused from
 * the answer on.
 */
export async function playRound(
  { system, identities, gateways }: Stage,
  round: { number: number; way: Way; fault: Fault; random: Random; report: Report },
): Promise<void> {
  const { number, way, fault, random, report } = round;
  const urls = gateways.map(({ url }) => url);
  const victim = await aVictim(system.gatewayUrl, system.adminKey, number);
  const { adminKey } = system;
  const name = `${fault}, round ${number}`;
  await takeAwayUnderLoad({ urls, adminKey, victim, way, name, workers: 3, pauseMsMax: 8, random, report, begin });

  function begin() {
    const frozen = fault === "gateway frozen" ? random.integer(0, gateways.length - 1) : -1;
    const pid = gateways[frozen]?.process.pid();
    if (pid !== undefined) {
      process.kill(pid, "SIGSTOP");
      report.count("gateways frozen (SIGSTOP)");
    }
    const killing = fault === "identity killed" ? killOne() : undefined;
    const end = async () => {
      if (pid !== undefined) process.kill(pid, "SIGCONT");
      await killing;
    };
    return { askable: urls.filter((_, i) => i !== frozen), end };
  }

  async function killOne(): Promise<void> {
    await sleep(random.integer(10, 500));
    const identity = random.pick(identities);
    await identity.kill();
    report.count("identities killed (-9)");
    await identity.start();
  }
}
