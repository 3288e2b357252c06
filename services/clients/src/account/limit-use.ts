/** How much went out of an account that counts against its limits, as of a day. Days, months and years are those of UTC. */
export interface LimitUse {
  /** YYYY-MM-DD of the newest amount that counted. */
  readonly on: string;
  readonly dayMinor: bigint;
  readonly monthMinor: bigint;
  readonly yearMinor: bigint;
}

export interface Limits {
  readonly daily: bigint | undefined;
  readonly monthly: bigint | undefined;
  readonly yearly: bigint | undefined;
}

const isSameYear = (a: string, b: string) => a.slice(0, 4) === b.slice(0, 4);
const isSameMonth = (a: string, b: string) => a.slice(0, 7) === b.slice(0, 7);

/**
 * The day an amount counts on: today, or the day already reached, so that two clocks around midnight cannot use a day's
 * limit twice.
 */
export function countingDay(use: LimitUse, now: Date): string {
  const today = now.toISOString().slice(0, 10);
  const isBehind = today < use.on;
  return isBehind ? use.on : today;
}

/** The use with one more amount on a day, which is that of `use` or a later one. */
export function countedUse(use: LimitUse, day: string, amountMinor: bigint): LimitUse {
  return {
    on: day,
    dayMinor: (day === use.on ? use.dayMinor : 0n) + amountMinor,
    monthMinor: (isSameMonth(day, use.on) ? use.monthMinor : 0n) + amountMinor,
    yearMinor: (isSameYear(day, use.on) ? use.yearMinor : 0n) + amountMinor,
  };
}

/** The use without an amount that counted on a day and did not go out after all. Periods that are over stay as they are. */
export function givenBackUse(use: LimitUse, day: string, amountMinor: bigint): LimitUse {
  return {
    on: use.on,
    dayMinor: use.dayMinor - (day === use.on ? amountMinor : 0n),
    monthMinor: use.monthMinor - (isSameMonth(day, use.on) ? amountMinor : 0n),
    yearMinor: use.yearMinor - (isSameYear(day, use.on) ? amountMinor : 0n),
  };
}

/** The first limit that a use is above; undefined when it is within all. */
export function limitBroken(use: LimitUse, limits: Limits): string | undefined {
  if (limits.daily !== undefined && use.dayMinor > limits.daily) return "daily_limit";
  if (limits.monthly !== undefined && use.monthMinor > limits.monthly) return "monthly_limit";
  if (limits.yearly !== undefined && use.yearMinor > limits.yearly) return "yearly_limit";
  return undefined;
}
