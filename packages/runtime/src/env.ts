import { readFileSync } from "node:fs";
import { StartRefused } from "./start-refused.ts";

export type EnvSource = Readonly<Record<string, string | undefined>>;

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
 * Reads single settings. A required setting that is missing, or a value out of bounds, is collected as a
 * problem; the value returned in its place is never used, because `readEnv` throws at the end.
 */
export interface EnvReader {
  /** NODE_ENV is "production", as in the images: what a sandbox may do without is then required. */
  readonly isProduction: boolean;
  string(name: string, fallback?: string): string;
  optional(name: string): string | undefined;
  /** A whole number, in the unit the setting's name ends with. */
  integer(name: string, options: { fallback?: number; min?: number; max?: number }): number;
  boolean(name: string, fallback: boolean): boolean;
  /** A switch that gives up safety for the sake of a sandbox: false unless set, and refused in production. */
  sandboxOnly(name: string): boolean;
  /** One of a closed set of words. */
  choice<const T extends string>(name: string, choices: readonly T[], fallback?: T): T;
  /** An absolute http or https address, without a trailing slash. */
  url(name: string, fallback?: string): string;
  /** Like `url`, for what passes through foreign networks: https in production. */
  outsideUrl(name: string): string;
  /** Comma-separated http or https addresses, without trailing slashes; at least one. The replicas of a service. */
  urls(name: string): string[];
  /** Comma-separated words; empty when unset. */
  list(name: string): string[];
  /** Lengths of time in seconds, comma-separated, fractions allowed: a schedule. */
  seconds(name: string, fallback: string): number[];
  /** Base64 of exactly `bytes` bytes: keys for encryption and signatures. */
  key(name: string, bytes: number): Buffer;
  /** Records a problem that concerns several settings together. */
  problem(text: string): void;
}

/**
 * Builds a process's settings from the environment, once, into a frozen object. `NAME_FILE` names a file
 * that holds the value of `NAME` (mounted secrets). Throws SettingsError naming every problem.
 */
export function readEnv<T extends object>(build: (env: EnvReader) => T, source: EnvSource = process.env): Readonly<T> {
  const problems: string[] = [];

  const raw = (name: string): string | undefined => {
    const file = source[`${name}_FILE`];
    if (file) {
      try {
        return readFileSync(file, "utf8").trim();
      } catch (error) {
        problems.push(`${name}_FILE: cannot read ${file} (${(error as NodeJS.ErrnoException).code})`);
        return undefined;
      }
    }
    const value = source[name];
    return value === undefined || value === "" ? undefined : value;
  };

  const required = (name: string, fallback: string | undefined): string => {
    const value = raw(name) ?? fallback;
    if (value === undefined) problems.push(`${name} is not set`);
    return value ?? "";
  };

  const isProduction = source["NODE_ENV"] === "production";

  const reader: EnvReader = {
    isProduction,
    string: required,
    optional: raw,
    integer(name, { fallback, min = 0, max = Number.MAX_SAFE_INTEGER }) {
      const text = raw(name);
      if (text === undefined && fallback !== undefined) return fallback;
      const value = text !== undefined && /^-?\d+$/.test(text) ? Number(text) : Number.NaN;
      if (!(value >= min && value <= max)) {
        problems.push(`${name} must be a whole number from ${min} to ${max}${text === undefined ? "" : `, not "${text}"`}`);
      }
      return value;
    },
    boolean(name, fallback) {
      const text = raw(name);
      if (text === undefined) return fallback;
      if (text !== "true" && text !== "false") problems.push(`${name} must be true or false, not "${text}"`);
      return text === "true";
    },
    sandboxOnly(name) {
      const allowed = reader.boolean(name, false);
      if (allowed && isProduction) problems.push(`${name} is for sandboxes: leave it out, or set NODE_ENV to something else`);
      return allowed;
    },
    choice(name, choices, fallback) {
      const value = required(name, fallback);
      const found = choices.find((choice) => choice === value);
      if (value !== "" && found === undefined) problems.push(`${name} must be one of ${choices.join(", ")}, not "${value}"`);
      return found ?? (choices[0] as (typeof choices)[number]);
    },
    url(name, fallback) {
      const value = required(name, fallback);
      if (value !== "" && !/^https?:$/.test(URL.parse(value)?.protocol ?? "")) {
        problems.push(`${name} must be an absolute http or https address, not "${value}"`);
      }
      return value.replace(/\/+$/, "");
    },
    outsideUrl(name) {
      const url = reader.url(name);
      if (isProduction && url.startsWith("http:")) {
        problems.push(`${name} must be an https address in production, not "${url}"; a sandbox sets NODE_ENV to something else`);
      }
      return url;
    },
    urls(name) {
      const list = reader.list(name).map((url) => url.replace(/\/+$/, ""));
      if (list.length === 0) problems.push(`${name} is not set`);
      for (const url of list) {
        if (!/^https?:$/.test(URL.parse(url)?.protocol ?? "")) problems.push(`${name} must list http addresses, not "${url}"`);
      }
      return list;
    },
    list: (name) =>
      (raw(name) ?? "")
        .split(",")
        .map((word) => word.trim())
        .filter((word) => word !== ""),
    seconds(name, fallback) {
      const text = required(name, fallback);
      if (!/^\d+(\.\d+)?(,\d+(\.\d+)?)*$/.test(text)) {
        problems.push(`${name} must be numbers of seconds, comma-separated, not "${text}"`);
      }
      return text.split(",").map(Number);
    },
    key(name, bytes) {
      const value = Buffer.from(required(name, undefined), "base64");
      // The value itself is a secret, so the message names only its length.
      if (value.length !== bytes) problems.push(`${name} must be ${bytes} bytes in base64, not ${value.length}`);
      return value;
    },
    problem: (text) => problems.push(text),
  };

  const settings = build(reader);
  if (problems.length > 0) throw new SettingsError([...new Set(problems)]);
  return Object.freeze(settings);
}
