/** Parsers of the values of options and arguments. They throw InvalidArgumentError. */
import { isUuid } from "@amana/runtime/uuid";
import { InvalidArgumentError } from "commander";

/**
 * Returns a parser for decimal numbers from `min` to `max`. The parser rejects "Infinity", "1e9"
 * and an empty text.
 */
export const numberParser =
  (min: number, max: number) =>
  (text: string): number => {
    const value = /^\d+(\.\d+)?$/.test(text) ? Number(text) : Number.NaN;
    if (!(value >= min && value <= max)) throw new InvalidArgumentError(`It must be a number from ${min} to ${max}.`);
    return value;
  };

/** Returns a parser for whole numbers from `min` to `max`. */
export const wholeNumberParser = (min: number, max: number) => (text: string) => {
  const value = numberParser(min, max)(text);
  if (!Number.isInteger(value)) throw new InvalidArgumentError("It must be a whole number.");
  return value;
};

export function parseUuid(text: string): string {
  if (!isUuid(text)) throw new InvalidArgumentError("It must be an id (UUID). Copy one from the list command.");
  return text.toLowerCase();
}

/** Parses an id of an option or argument with several ids, and appends it to the preceding ids. */
export const appendUuid = (text: string, precedingIds: readonly string[] = []) => [...precedingIds, parseUuid(text)];

export function parseTime(text: string): string {
  const time = new Date(text);
  if (Number.isNaN(time.getTime()) || !isCalendarDay(text.slice(0, 10)))
    throw new InvalidArgumentError("It must be a time like 2026-11-20T08:00Z.");
  return time.toISOString();
}

export function parseDay(text: string): string {
  if (!isCalendarDay(text)) throw new InvalidArgumentError("It must be a day like 2026-11-20.");
  return text;
}

/** Returns whether the text is a day. `Date` alone would parse 31 February as a day in March. */
const isCalendarDay = (day: string) => {
  const midnight = new Date(`${day}T00:00Z`);
  return /^\d{4}-\d{2}-\d{2}$/.test(day) && !Number.isNaN(midnight.getTime()) && midnight.toISOString().startsWith(day);
};

export function parseAmount(text: string): string {
  if (!/^\d{1,12}(\.\d{1,2})?$/.test(text)) throw new InvalidArgumentError("It must be an amount like 1250.00.");
  return text;
}

/** Parses a required text, such as the reason for the audit trail. */
export function parseText(text: string): string {
  if (text.trim() === "") throw new InvalidArgumentError("It must not be empty.");
  return text;
}
