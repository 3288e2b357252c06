const adultYears = 18;

/**
 * Whether somebody born on a day is 18 or older today, in UTC. Dates are compared as texts, without
 * time zones: who was born on 29 February is of age from 1 March on in a year without that day.
 */
export function isAdult(dateOfBirth: string, now: Date): boolean {
  const today = now.toISOString().slice(0, 10);
  const year = String(Number(today.slice(0, 4)) - adultYears).padStart(4, "0");
  return dateOfBirth <= `${year}${today.slice(4)}`;
}
