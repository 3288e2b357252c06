import { apiCaller } from "@amana/dev-env/demo/api";
import { sleep } from "@amana/runtime";
import type { Random } from "../random.ts";
import type { Report } from "../report.ts";
import { beginRename } from "./slow-body.ts";
import { takeAway, type Victim, type Way } from "./take-away.ts";

export interface TakingAway {
  /** Of the gateways that the key is used on. */
  readonly urls: readonly string[];
  readonly adminKey: string;
  readonly victim: Victim;
  readonly way: Way;
  /** Says in a violation where it was seen. */
  readonly name: string;
  /** How many use the key on each gateway, and how long each pauses at most. */
  readonly workers: number;
  readonly pauseMsMax: number;
  readonly random: Random;
  readonly report: Report;
  /** Begins what goes wrong meanwhile, if anything; answers which gateways can be asked. */
  begin(): { readonly askable: readonly string[]; end(): Promise<void> };
}

const afterAnswerMs = 400;
const claim = "a request sent after the answer is refused";

/** A key is used, taken away, and must be refused from the answer on. */
export async function takeAwayUnderLoad(options: TakingAway): Promise<void> {
  const { urls, victim, way, random, report } = options;
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
      return `${what} at ${url} got ${status}, ${lateMs} ms after the answer to "${way}" (${options.name})`;
    });
  };

  const load = urls.flatMap((url) =>
    Array.from({ length: options.workers }, async (_, worker) => {
      const call = apiCaller(url, victim.key);
      while (!isOver) {
        const sentAtMs = performance.now();
        const answer = worker === 0 ? call("PATCH", "/api/v1/me", { name: `by ${worker}` }) : call("GET", "/api/v1/me");
        const status = await answer.then((known) => known.status).catch(() => 0);
        judge(worker === 0 ? "a change" : "a read", url, sentAtMs, status);
        await sleep(random.integer(0, options.pauseMsMax));
      }
    }),
  );
  await sleep(random.integer(200, 500));
  const begun = urls.flatMap((url) =>
    [true, false].map((chunked) =>
      beginRename(url, victim.key, "never", chunked).then(
        (request) => ({ url, request }),
        // A gateway that is away takes no request, and lets nobody in.
        () => undefined,
      ),
    ),
  );
  const slow = (await Promise.all(begun)).filter((one) => one !== undefined);
  report.count("slow bodies", slow.length);

  const { askable, end } = options.begin();
  const wasAnswered = await takeAway(askable, options.adminKey, victim, way, random);
  if (wasAnswered) answeredAtMs = performance.now();
  report.count(wasAnswered ? `taken away: ${way}` : "not known to be taken away");

  // What a frozen gateway finds when it wakes was sent after the answer.
  const late = slow.map(async ({ url, request }) => {
    const lastByteAtMs = performance.now();
    judge("a slow body", url, lastByteAtMs, await request.finish());
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
  const ended = end();
  isOver = true;
  await Promise.all([...late, ...burst, ...load]);
  await ended;
}
