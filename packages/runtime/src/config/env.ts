import { readFileSync } from "node:fs";
import { withoutSlashes } from "./without-slashes.ts";

export type EnvSource = Readonly<Record<string, string | undefined>>;

/** Why a process does not start, in words for whoever starts it: shown without a stack. */
export class StartRefused extends Error {}

/** Every problem of a process's settings at once, so that a deployment is put right in one go. */
export class SettingsError extends StartRefused {
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(`The settings are not usable:\n${problems.map((problem) => `  - ${problem}`).join("\n")}`);
    this.name = "SettingsError";
    this.problems = problems;
  }
}

/**
 * Builds a process's settings from the environment, once, into a frozen object. `NAME_FILE` names a
 * file that holds the value of `NAME` (mounted secrets). Throws SettingsError naming every problem.
 */
export function readEnv<T extends object>(build: (env: EnvReader) => T, source: EnvSource = process.env): Readonly<T> {
  const problems = new Set<string>();
  const settings = build(new EnvReader(source, problems));
  if (problems.size > 0) throw new SettingsError([...problems]);
  return Object.freeze(settings);
}

/** Settings to be read with `readEnv` when they are called for: a process's `readConfig`. */
export const settings =
  <T extends object>(build: (env: EnvReader) => T) =>
  (source?: EnvSource): Readonly<T> =>
    readEnv(build, source);

/**
 * Reads single settings. A required setting that is missing, or a value out of bounds, is collected
 * as a problem; the value returned in its place is never used, because `readEnv` throws at the end.
 */
class EnvReader {
  /** NODE_ENV is "production", as in the images: what a sandbox may do without is then required. */
  readonly isProduction: boolean;
  readonly #source: EnvSource;
  readonly #problems: Set<string>;

  constructor(source: EnvSource, problems: Set<string>) {
    this.isProduction = source["NODE_ENV"] === "production";
    this.#source = source;
    this.#problems = problems;
  }

  /** Records a problem that concerns several settings together. */
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

  /** A whole number, in the unit the setting's name ends with. */
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

  /** From 0 to 1. */
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

  /** A switch that gives up safety for a sandbox: false unless set, refused in production. */
  sandboxOnly(name: string): boolean {
    const allowed = this.boolean(name, false);
    if (allowed) this.refuseInProduction(name);
    return allowed;
  }

  /** For a setting that is there and that only sandboxes may have. */
  refuseInProduction(name: string): void {
    if (this.isProduction) this.problem(`${name} is for sandboxes: leave it out, or set NODE_ENV to something else`);
  }

  /** One of a closed set of words. */
  choice<const T extends string>(name: string, choices: readonly T[], fallback?: T): T {
    const value = this.string(name, fallback);
    const found = choices.find((choice) => choice === value);
    if (value !== "" && found === undefined) this.problem(`${name} must be one of ${choices.join(", ")}, not "${value}"`);
    return found ?? (choices[0] as T);
  }

  /** An absolute http or https address, without a trailing slash. */
  url(name: string): string {
    const value = this.string(name);
    if (value !== "" && !isWebAddress(value)) {
      this.problem(`${name} must be an absolute http or https address, not "${value}"`);
    }
    return withoutSlashes(value);
  }

  /** Like `url`, for what passes through foreign networks: https in production. */
  outsideUrl(name: string): string {
    const url = this.url(name);
    if (this.isProduction && url.startsWith("http:")) {
      this.problem(`${name} must be an https address in production, not "${url}"; a sandbox sets NODE_ENV to something else`);
    }
    return url;
  }

  /** Comma-separated http or https addresses, at least one: the replicas of a service. */
  urls(name: string): string[] {
    const list = this.words(name).map(withoutSlashes);
    for (const url of list) if (!isWebAddress(url)) this.problem(`${name} must list http addresses, not "${url}"`);
    return list;
  }

  /** Comma-separated words; at least one. */
  words(name: string): string[] {
    const words = this.list(name);
    if (words.length === 0) this.problem(`${name} is not set`);
    return words;
  }

  /** Comma-separated words; empty when unset. */
  list(name: string): string[] {
    const words = (this.optional(name) ?? "").split(",").map((word) => word.trim());
    return words.filter((word) => word !== "");
  }

  /** Lengths of time in seconds, comma-separated, fractions allowed: a schedule. */
  seconds(name: string, fallback: string): number[] {
    const text = this.string(name, fallback);
    if (!/^\d+(\.\d+)?(,\d+(\.\d+)?)*$/.test(text)) {
      this.problem(`${name} must be numbers of seconds, comma-separated, not "${text}"`);
    }
    return text.split(",").map(Number);
  }

  /** A key as base64 of exactly `bytes` bytes; two, comma-separated, while one is replaced. */
  keys(name: string, bytes: number): Buffer[] {
    const keys = this.string(name)
      .split(",")
      .map((text) => Buffer.from(text, "base64"));
    // The values themselves are secrets, so the messages name only their lengths.
    const wrong = keys.find((key) => key.length !== bytes);
    if (wrong) this.problem(`${name} must be ${bytes} bytes in base64, not ${wrong.length}`);
    if (keys.length > 2) this.problem(`${name} must be one key, or two while one is replaced, not ${keys.length}`);
    return keys;
  }
}

export type { EnvReader };

const isWebAddress = (text: string) => /^https?:$/.test(URL.parse(text)?.protocol ?? "");
