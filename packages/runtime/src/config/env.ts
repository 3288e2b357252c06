import { readFileSync } from "node:fs";
import { withoutSlashes } from "./without-slashes.ts";

export type EnvSource = Readonly<Record<string, string | undefined>>;

/**
 * Reason for which a process cannot start. Its message is shown to the operator without a stack.
 */
export class StartupError extends Error {}

/** All problems of a process's settings, so that an operator can fix them together. */
export class SettingsError extends StartupError {
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(`The settings are not usable:\n${problems.map((problem) => `  - ${problem}`).join("\n")}`);
    this.name = "SettingsError";
    this.problems = problems;
  }
}

/**
 * Reads a process's settings from the environment into a frozen object. `NAME_FILE` is the path of
 * a file that contains the value of `NAME`, as for mounted secrets. Throws a SettingsError with all
 * problems.
 */
export function readEnv<T extends object>(build: (env: EnvReader) => T, source: EnvSource = process.env): Readonly<T> {
  const problems = new Set<string>();
  const settings = build(new EnvReader(source, problems));
  if (problems.size > 0) throw new SettingsError([...problems]);
  return Object.freeze(settings);
}

/** Returns a function that calls `readEnv`. A process uses this function as its `readConfig`. */
export const settings =
  <T extends object>(build: (env: EnvReader) => T) =>
  (source?: EnvSource): Readonly<T> =>
    readEnv(build, source);

/**
 * Reads single settings. A method records a problem for a required setting that is missing and for
 * an invalid value. The value that the method then returns is never used, because `readEnv` throws.
 */
class EnvReader {
  /**
   * True if NODE_ENV is "production", as in the images. Some settings are optional only in a
   * sandbox.
   */
  readonly isProduction: boolean;
  readonly #source: EnvSource;
  readonly #problems: Set<string>;

  constructor(source: EnvSource, problems: Set<string>) {
    this.isProduction = source["NODE_ENV"] === "production";
    this.#source = source;
    this.#problems = problems;
  }

  /** Records a problem, with the name of the setting in its text. */
  problem(text: string): void {
    this.#problems.add(text);
  }

  optional(name: string): string | undefined {
    const file = this.#source[`${name}_FILE`];
    if (!file) return this.#source[name] || undefined;
    try {
      return readFileSync(file, "utf8").trim();
    } catch (error) {
      this.problem(`${name}_FILE: cannot read ${file} (${(error as NodeJS.ErrnoException).code})`);
      return undefined;
    }
  }

  string(name: string, fallback?: string): string {
    const value = this.optional(name) ?? fallback;
    if (value === undefined) this.problem(`${name} is not set`);
    return value ?? "";
  }

  /** Reads a whole number, in the unit at the end of the setting's name. */
  integer(name: string, options: { fallback?: number; min?: number; max?: number }): number {
    const { fallback, min = 0, max = Number.MAX_SAFE_INTEGER } = options;
    const text = this.optional(name);
    if (text === undefined && fallback !== undefined) return fallback;
    const value = text !== undefined && /^-?\d+$/.test(text) ? Number(text) : Number.NaN;
    if (!(value >= min && value <= max)) {
      this.problem(`${name} must be a whole number from ${min} to ${max}${text === undefined ? "" : `, not "${text}"`}`);
    }
    return value;
  }

  /** Reads a number from 0 to 1. */
  fraction(name: string, fallback: number): number {
    const text = this.optional(name);
    if (text === undefined) return fallback;
    if (!/^(0(\.\d+)?|1(\.0+)?)$/.test(text)) this.problem(`${name} must be a number from 0 to 1, not "${text}"`);
    return Number(text);
  }

  boolean(name: string, fallback: boolean): boolean {
    const text = this.optional(name);
    if (text === undefined) return fallback;
    if (text !== "true" && text !== "false") this.problem(`${name} must be true or false, not "${text}"`);
    return text === "true";
  }

  /**
   * Reads a switch that disables a protection in a sandbox. Default: false. Invalid in production.
   */
  sandboxOnly(name: string): boolean {
    const allowed = this.boolean(name, false);
    if (allowed) this.refuseInProduction(name);
    return allowed;
  }

  /** Records a problem in production for a setting that only sandboxes may have. */
  refuseInProduction(name: string): void {
    if (this.isProduction) this.problem(`${name} is for sandboxes: remove it, or set NODE_ENV to another value than production`);
  }

  /** Reads one of a fixed set of values. */
  choice<const T extends string>(name: string, choices: readonly T[], fallback?: T): T {
    const value = this.string(name, fallback);
    const selected = choices.find((choice) => choice === value);
    if (value !== "" && selected === undefined) this.problem(`${name} must be one of ${choices.join(", ")}, not "${value}"`);
    return selected ?? (choices[0] as T);
  }

  /** Reads an absolute http or https URL. Returns it without trailing slashes. */
  url(name: string): string {
    const value = this.string(name);
    if (value !== "" && !isWebAddress(value)) {
      this.problem(`${name} must be an absolute http or https address, not "${value}"`);
    }
    return withoutSlashes(value);
  }

  /**
   * Reads the URL of an external system in the same way as `url`. In production, the URL must be
   * https.
   */
  externalUrl(name: string): string {
    const url = this.url(name);
    if (this.isProduction && url.startsWith("http:")) {
      this.problem(`${name} must be an https address in production, not "${url}"; in a sandbox, set NODE_ENV to another value`);
    }
    return url;
  }

  /** Reads comma-separated http or https URLs, at least one: the replicas of a service. */
  urls(name: string): string[] {
    const list = this.words(name).map(withoutSlashes);
    for (const url of list) if (!isWebAddress(url)) this.problem(`${name} must list http or https addresses, not "${url}"`);
    return list;
  }

  /** Reads comma-separated words, at least one. */
  words(name: string): string[] {
    const words = this.list(name);
    if (words.length === 0) this.problem(`${name} is not set`);
    return words;
  }

  /** Reads comma-separated words. Returns an empty list when unset. */
  list(name: string): string[] {
    const words = (this.optional(name) ?? "").split(",").map((word) => word.trim());
    return words.filter((word) => word !== "");
  }

  /** Reads a schedule: comma-separated durations in seconds, with optional fractions. */
  seconds(name: string, fallback: string): number[] {
    const text = this.string(name, fallback);
    if (!/^\d+(\.\d+)?(,\d+(\.\d+)?)*$/.test(text)) {
      this.problem(`${name} must be comma-separated numbers of seconds, not "${text}"`);
    }
    return text.split(",").map(Number);
  }

  /**
   * Reads a key of `bytes` bytes in base64. While a key is replaced, the setting contains two keys,
   * separated by a comma.
   */
  keys(name: string, bytes: number): Buffer[] {
    const keys = this.string(name)
      .split(",")
      .map((text) => Buffer.from(text, "base64"));
    // The values are secrets, so the messages contain only their lengths.
    const wrong = keys.find((key) => key.length !== bytes);
    if (wrong) this.problem(`${name} must be ${bytes} bytes in base64, not ${wrong.length} bytes`);
    if (keys.length > 2) this.problem(`${name} must be one key, or two while a key is replaced, not ${keys.length} keys`);
    return keys;
  }
}

export type { EnvReader };

const isWebAddress = (text: string) => /^https?:$/.test(URL.parse(text)?.protocol ?? "");
