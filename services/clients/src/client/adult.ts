const adultYears = 18;

/**
 * Returns whether a person is 18 or older on the current UTC day. Compares dates as texts, without
 * time zones. A person who was born on 29 February is 18 from 1 March if the year has no 29
 * February.
 */
export function isAdult(dateOfBirth: string, now: Date): boolean {
  const today = now.toISOString().slice(0, 10);
  const year = String(Number(today.slice(0, 4)) - adultYears).padStart(4, "0");
  return dateOfBirth <= `${year}${today.slice(4)}`;
}
