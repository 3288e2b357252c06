/**
 * The limit periods, shortest first. `text` is the name of the limit in an RPC request, and `name`
 * is its name in the public API. `limit` and `used` are columns of the account. The first
 * `characters` characters of a UTC day (YYYY-MM-DD) identify the period.
 */
export const limitPeriods = [
  { text: "dailyLimit", limit: "dailyLimitMinor", used: "usedDayMinor", name: "daily_limit", characters: 10 },
  { text: "monthlyLimit", limit: "monthlyLimitMinor", used: "usedMonthMinor", name: "monthly_limit", characters: 7 },
  { text: "yearlyLimit", limit: "yearlyLimitMinor", used: "usedYearMinor", name: "yearly_limit", characters: 4 },
] as const;

type Period = (typeof limitPeriods)[number];
/** Limits of an account. A null or missing limit means no limit. */
export type AccountLimits = { [L in Period["limit"]]?: bigint | null };
/**
 * Sums of the counted amounts in the day, month and year of `usedOn`, the day of the newest amount.
 */
type LimitUse = { usedOn: string } & { [U in Period["used"]]: bigint };

const isSamePeriod = ({ characters }: Period, a: string, b: string) => a.slice(0, characters) === b.slice(0, characters);

const buildUse = (usedOn: string, amountOf: (period: Period) => bigint): LimitUse => {
  const [day, month, year] = limitPeriods;
  return { usedOn, usedDayMinor: amountOf(day), usedMonthMinor: amountOf(month), usedYearMinor: amountOf(year) };
};

/**
 * Returns the limit use after an additional amount. The amount counts today, or on `usedOn` if that
 * day is later than today. Two replicas with different clocks can therefore not use a daily limit
 * twice around midnight.
 */
export function addToUse(use: LimitUse, amountMinor: bigint, now: Date): LimitUse {
  const today = now.toISOString().slice(0, 10);
  const isClockBehind = today < use.usedOn;
  const day = isClockBehind ? use.usedOn : today;
  return buildUse(day, (period) => (isSamePeriod(period, day, use.usedOn) ? use[period.used] : 0n) + amountMinor);
}

/**
 * Returns the limit use after the removal of an amount that counted on `day`. Reduces a sum only if
 * `day` and `usedOn` are in the same period.
 */
export const subtractFromUse = (use: LimitUse, day: string, amountMinor: bigint): LimitUse =>
  buildUse(use.usedOn, (period) => use[period.used] - (isSamePeriod(period, day, use.usedOn) ? amountMinor : 0n));
