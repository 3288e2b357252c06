import type { Clock } from "../clock.ts";
import type { Applications } from "./applications.ts";

export interface PassageOfTime {
  /** What is due next may have changed. */
  wake(): void;
  stop(): void;
}

const sleepMsMax = 3_600_000;

/** Ends checks and lapses links at their moment of the sandbox's clock, even when nobody looks. */
export function startPassageOfTime(applications: Pick<Applications, "applyTime">, clock: Clock): PassageOfTime {
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;
  const wake = () => {
    if (stopped) return;
    clearTimeout(timer);
    const nextMs = applications.applyTime();
    if (nextMs !== undefined) timer = setTimeout(wake, Math.min(Math.max(nextMs - clock.nowMs(), 0), sleepMsMax));
  };
  clock.onAdvance(wake);
  return {
    wake,
    stop() {
      stopped = true;
      clearTimeout(timer);
    },
  };
}
