import { apiCaller } from "@amana/dev-env/demo/api";
import { sleep } from "@amana/runtime";
import type { Random } from "../random.ts";
import type { Report } from "../report.ts";
import { beginRename } from "./slow-body.ts";
import type { Stage } from "./stage.ts";
import { aVictim, takeAway, type Way } from "./take-away.ts";

export type Fault = "none" | "identity killed" | "gateway frozen";

const workersPerGateway = 3;
const afterAnswerMs = 400;
const claim = "a request sent after the answer is refused";

/**
 * One key is used on both gateways, taken away while something goes wrong, and must be refused from
 * the answer on.
 */
export async function playRound(
  { system, identities, gateways }: Stage,
  round: { number: number; way: Way; fault: Fault; random: Random; report: Report },
): Promise<void> {
  const { way, fault, random, report } = round;
  const urls = gateways.map(({ url }) => url);
  const victim = await aVictim(system.gatewayUrl, system.adminKey, round.number);
  let answeredAtMs = Number.POSITIVE_INFINITY;
  let isOver = false;

  const judge = (what: string, url: string, lastByteAtMs: number, status: number) => {
    if (status === 200) report.count("accepted");
    if (lastByteAtMs <= answeredAtMs) {
      if (status === 200 && performance.now() > answeredAtMs + 100) report.count("sent before the answer, acted after it");
      return;
    }
    // An answer that came for another reason, such as an identity that is down, lets nobody in
    // either.
    report.check(claim, status === 0 || status === 401 || status >= 500, () => {
      const lateMs = (lastByteAtMs - answeredAtMs).toFixed(1);
      return `${what} at ${url} got ${status}, ${lateMs} ms after the answer to "${way}" (${fault}, round ${round.number})`;
    });
  };

  const load = urls.flatMap((url) =>
    Array.from({ length: workersPerGateway }, async (_, worker) => {
      const call = apiCaller(url, victim.key);
      while (!isOver) {
        const sentAtMs = performance.now();
        const answer = worker === 0 ? call("PATCH", "/api/v1/me", { name: `by ${round.number}` }) : call("GET", "/api/v1/me");
        const status = await answer.then((known) => known.status).catch(() => 0);
        judge(worker === 0 ? "a change" : "a read", url, sentAtMs, status);
        await sleep(random.integer(0, 8));
      }
    }),
  );
  await sleep(random.integer(200, 500));
  const slow = await Promise.all(
    urls.flatMap((url) =>
      [true, false].map((chunked) => beginRename(url, victim.key, "never", chunked).then((begun) => ({ url, begun }))),
    ),
  );
  report.count("slow bodies", slow.length);

  const frozen = fault === "gateway frozen" ? random.integer(0, gateways.length - 1) : -1;
  const pid = gateways[frozen]?.process.pid();
  if (pid !== undefined) {
    process.kill(pid, "SIGSTOP");
    report.count("gateways frozen (SIGSTOP)");
  }
  const killing = fault === "identity killed" ? killOne() : undefined;
  const wasAnswered = await takeAway(
    urls.filter((_, i) => i !== frozen),
    system.adminKey,
    victim,
    way,
    random,
  );
  if (wasAnswered) answeredAtMs = performance.now();
  report.count(wasAnswered ? `taken away: ${way}` : "not known to be taken away");

  // What a frozen gateway finds when it wakes was sent after the answer.
  const late = slow.map(async ({ url, begun }) => {
    const lastByteAtMs = performance.now();
    judge("a slow body", url, lastByteAtMs, await begun.finish());
  });
  const burst = urls.flatMap((url) =>
    Array.from({ length: 5 }, async () => {
      const sentAtMs = performance.now();
      const status = await apiCaller(url, victim.key)("GET", "/api/v1/me").then(
        (known) => known.status,
        () => 0,
      );
      judge("a read", url, sentAtMs, status);
    }),
  );
  await sleep(afterAnswerMs);
  if (pid !== undefined) process.kill(pid, "SIGCONT");
  isOver = true;
  await Promise.all([...late, ...burst, ...load]);
  await killing;

  async function killOne(): Promise<void> {
    await sleep(random.integer(10, 500));
    const identity = random.pick(identities);
    await identity.kill();
    report.count("identities killed (-9)");
    await identity.start();
  }
}
