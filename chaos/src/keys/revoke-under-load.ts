import { apiCaller } from "@amana/dev-env/demo/api";
import { sleep } from "@amana/runtime";
import type { Random } from "../random.ts";
import type { Report } from "../report.ts";
import { type RevocationMethod, revoke, type Victim } from "./revoke.ts";
import { startRename } from "./slow-body.ts";

export interface RevocationUnderLoad {
  /** URLs of the gateways on which the key is used. */
  readonly urls: readonly string[];
  readonly adminKey: string;
  readonly victim: Victim;
  readonly method: RevocationMethod;
  /** Name of the round. It is part of the text of a violation. */
  readonly name: string;
  /** Number of parallel callers on each gateway. */
  readonly workers: number;
  /** Longest pause of a caller between two requests. */
  readonly pauseMsMax: number;
  readonly random: Random;
  readonly report: Report;
  /**
   * Starts the fault of the round, if the round has a fault. Returns the URLs of the gateways that
   * can still respond, and a function that ends the fault.
   */
  startFault(): { readonly reachable: readonly string[]; end(): Promise<void> };
}

const afterRevocationMs = 400;
const claim = "a request sent after the revocation is rejected";

/**
 * Sends requests with a key and revokes the key meanwhile. Checks that every request that is sent
 * after the response to the revocation is rejected.
 */
export async function revokeUnderLoad(options: RevocationUnderLoad): Promise<void> {
  const { urls, victim, method, random, report } = options;
  let revokedAtMs = Number.POSITIVE_INFINITY;
  let isOver = false;

  const checkResponse = (requestName: string, url: string, lastByteAtMs: number, status: number) => {
    if (status === 200) report.count("requests accepted");
    if (lastByteAtMs <= revokedAtMs) {
      if (status === 200 && performance.now() > revokedAtMs + 100)
        report.count("requests accepted late that were sent before the revocation");
      return;
    }
    // A request can also fail for another reason, for example because identity is down.
    report.check(claim, status === 0 || status === 401 || status >= 500, () => {
      const lateMs = (lastByteAtMs - revokedAtMs).toFixed(1);
      return `${requestName} at ${url} returned ${status}, sent ${lateMs} ms after the response to "${method}" (${options.name})`;
    });
  };

  const loadCallers = urls.flatMap((url) =>
    Array.from({ length: options.workers }, async (_, worker) => {
      const call = apiCaller(url, victim.key);
      while (!isOver) {
        const sentAtMs = performance.now();
        const response = worker === 0 ? call("PATCH", "/api/v1/me", { name: `by ${worker}` }) : call("GET", "/api/v1/me");
        const status = await response.then((result) => result.status).catch(() => 0);
        checkResponse(worker === 0 ? "a change" : "a read", url, sentAtMs, status);
        await sleep(random.integer(0, options.pauseMsMax));
      }
    }),
  );
  await sleep(random.integer(200, 500));
  const startedRequests = urls.flatMap((url) =>
    [true, false].map((chunked) =>
      startRename(url, victim.key, "never", chunked).then(
        (request) => ({ url, request }),
        // The gateway is down, so no request can be started.
        () => undefined,
      ),
    ),
  );
  const slowRequests = (await Promise.all(startedRequests)).filter((slowRequest) => slowRequest !== undefined);
  report.count("slow bodies", slowRequests.length);

  const { reachable, end: endFault } = options.startFault();
  const isConfirmed = await revoke(reachable, options.adminKey, victim, method, random);
  if (isConfirmed) revokedAtMs = performance.now();
  report.count(isConfirmed ? `revoked: ${method}` : "revocations without confirmation");

  // Sends the ends of the slow bodies now. A frozen gateway reads them only when it continues.
  const slowBodies = slowRequests.map(async ({ url, request }) => {
    const lastByteAtMs = performance.now();
    checkResponse("a slow body", url, lastByteAtMs, await request.finish());
  });
  const burstReads = urls.flatMap((url) =>
    Array.from({ length: 5 }, async () => {
      const sentAtMs = performance.now();
      const status = await apiCaller(url, victim.key)("GET", "/api/v1/me").then(
        (result) => result.status,
        () => 0,
      );
      checkResponse("a read", url, sentAtMs, status);
    }),
  );
  await sleep(afterRevocationMs);
  const faultEnd = endFault();
  isOver = true;
  await Promise.all([...slowBodies, ...burstReads, ...loadCallers]);
  await faultEnd;
}
