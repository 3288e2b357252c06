const adultYears = 18;

/**
 * Returns whether a person is 18 or older today, in UTC. Compares dates as texts, without time
 * zones: in a year without 29 February, a person born on that day is 18 from 1 March.
 */
export function isAdult(dateOfBirth: string, now: Date): boolean {
  const today = now.toISOString().slice(0, 10);
  const year = String(Number(today.slice(0, 4)) - adultYears).padStart(4, "0");
  return dateOfBirth <= `${year}${today.slice(4)}`;
}
