/**
 * The periods that have limits, the shortest first: what a request, an account and the public API
 * call each, and how much of a day's YYYY-MM-DD, in UTC, says which one it is.
 */
export const limitPeriods = [
  { text: "dailyLimit", limit: "dailyLimitMinor", used: "usedDayMinor", name: "daily_limit", characters: 10 },
  { text: "monthlyLimit", limit: "monthlyLimitMinor", used: "usedMonthMinor", name: "monthly_limit", characters: 7 },
  { text: "yearlyLimit", limit: "yearlyLimitMinor", used: "usedYearMinor", name: "yearly_limit", characters: 4 },
] as const;

type Period = (typeof limitPeriods)[number];
/** Null or missing: nothing is limited. */
export type AccountLimits = { [L in Period["limit"]]?: bigint | null | undefined };
/** How much went out that counts, in the periods of `usedOn`: the day of the newest amount. */
type LimitUse = { usedOn: string } & { [U in Period["used"]]: bigint };

const isSamePeriod = ({ characters }: Period, a: string, b: string) => a.slice(0, characters) === b.slice(0, characters);

const useOf = (usedOn: string, amountOf: (period: Period) => bigint): LimitUse => {
  const [day, month, year] = limitPeriods;
  return { usedOn, usedDayMinor: amountOf(day), usedMonthMinor: amountOf(month), usedYearMinor: amountOf(year) };
};

/**
 * The use with one more amount. It counts today, or on the day already reached, so that two clocks
 * around midnight cannot use a day's limit twice.
 */
export function countedUse(use: LimitUse, amountMinor: bigint, now: Date): LimitUse {
  const today = now.toISOString().slice(0, 10);
  const isBehind = today < use.usedOn;
  const day = isBehind ? use.usedOn : today;
  return useOf(day, (period) => (isSamePeriod(period, day, use.usedOn) ? use[period.used] : 0n) + amountMinor);
}

/** The use without an amount that did not go out after all. Periods that are over stay. */
export const givenBackUse = (use: LimitUse, day: string, amountMinor: bigint): LimitUse =>
  useOf(use.usedOn, (period) => use[period.used] - (isSamePeriod(period, day, use.usedOn) ? amountMinor : 0n));
