import { Buyer } from "@amana/dev-env/buyer";
import { createClient } from "@amana/e2e/test-system";
import { sleep } from "@amana/runtime";
import type { Random } from "../random.ts";
import type { Report } from "../report.ts";
import type { Link } from "./link.ts";
import type { LinksSystem } from "./links-system.ts";

/** Name of the check for forms that are sent while the business is disabled. */
export const disabledClaim = "a form sent after the business was disabled starts no payment";
const buyerCount = 12;

/**
 * Disables and enables a business while buyers open and send the form of its link. A form must not
 * start a payment if it is sent after the API has confirmed that the business is disabled.
 */
export async function disableBusiness(
  { system }: LinksSystem,
  { business, url }: Link,
  random: Random,
  report: Report,
  signal: AbortSignal,
): Promise<void> {
  const { businesses } = createClient(system, system.adminKey, { retries: 5 });
  // Each change assigns a new object, so that a buyer can detect a change during its request.
  let state = { isDisabled: false };
  const runBuyer = async () => {
    while (!signal.aborted) {
      const buyer = new Buyer(url);
      const page = await buyer.open().catch(() => undefined);
      if (page?.status === 200) {
        await sleep(random.integer(0, 600), signal);
        // Half of the buyers wait until the business is disabled. On a busy machine, this may take
        // longer than the pause above. All buyers would then send their forms too early.
        if (random.chance(0.5)) await waitUntil(() => state.isDisabled, signal);
        const before = state;
        const response = await buyer.submit(page).catch(() => undefined);
        if (response && before.isDisabled && state === before) {
          report.check(disabledClaim, response.status !== 303, () => url);
        }
      }
      await sleep(random.integer(5, 60), signal);
    }
  };
  const operate = async () => {
    while (!signal.aborted) {
      await businesses.update(business.id, { status: "DISABLED" }).then(
        () => {
          state = { isDisabled: true };
          report.count("businesses disabled");
        },
        () => {},
      );
      const checks = report.countOf(`checked: ${disabledClaim}`);
      await sleep(random.integer(300, 1_200), signal);
      await waitUntil(() => report.countOf(`checked: ${disabledClaim}`) > checks, signal);
      state = { isDisabled: false };
      await businesses.update(business.id, { status: "ACTIVE" }).catch(() => {});
      await sleep(random.integer(300, 800), signal);
    }
  };
  await Promise.all([operate(), ...Array.from({ length: buyerCount }, runBuyer)]);
}

/** Waits until `condition` is true, at most for ten seconds. */
async function waitUntil(condition: () => boolean, signal: AbortSignal): Promise<void> {
  for (let polls = 0; polls < 200 && !condition() && !signal.aborted; polls += 1) await sleep(50, signal);
}
