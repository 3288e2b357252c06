export type Body = Readonly<Record<string, unknown>>;

export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

export const isText = (value: unknown): value is string => typeof value === "string";

export const isWholeNumber = (value: unknown, min: number, max: number): value is number =>
  Number.isInteger(value) && Number(value) >= min && Number(value) <= max;

export const isWebAddress = (value: unknown): value is string =>
  isText(value) && /^https?:$/.test(URL.parse(value)?.protocol ?? "");

export const isBoolean = (value: unknown): value is boolean => typeof value === "boolean";

export const isOneOf =
  <T>(values: readonly T[]) =>
  (value: unknown): value is T =>
    values.some((candidate) => candidate === value);

/**
 * Returns functions that read fields of a body, and the list of problems that they find. The caller
 * must not use the values if the list is not empty.
 */
export function readFields(body: Body) {
  const problems: string[] = [];
  const optional = <T>(name: string, isValid: (value: unknown) => value is T, rule: string): T | undefined => {
    const value = body[name];
    if (value === undefined || isValid(value)) return value;
    problems.push(`${name} ${rule}`);
    return undefined;
  };
  const required = <T>(name: string, isValid: (value: unknown) => value is T, rule: string): T => {
    if (body[name] === undefined) problems.push(`${name} ${rule}`);
    return optional(name, isValid, rule) as T;
  };
  return { problems, optional, required };
}
