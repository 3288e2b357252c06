import { type EnvSource, readEnv } from "@amana/runtime";

export interface Config {
  readonly host: string;
  /** 0 takes any free port. */
  readonly port: number;
  /** What hosted pages' addresses begin with; without it, the address the process listens on. */
  readonly publicUrl?: string;
  /** Where the state is kept; without it, in memory only. */
  readonly dataDir?: string;
  readonly username: string;
  readonly password: string;
  /** The real processor sends its numbers either way, so a client must be tried with both. */
  readonly numbersAsStrings: boolean;
}

export function readConfig(source: EnvSource = process.env): Config {
  return readEnv((env): Config => {
    const dataDir = env.optional("SANDBOX_DATA_DIR");
    return {
      host: env.string("HOST", "127.0.0.1"),
      port: env.integer("SANDBOX_PORT", { fallback: 8090, max: 65_535 }),
      ...(env.optional("SANDBOX_URL") && { publicUrl: env.url("SANDBOX_URL") }),
      ...(dataDir && { dataDir }),
      username: env.string("SATIM_USERNAME", "sandbox"),
      password: env.string("SATIM_PASSWORD", "sandbox"),
      numbersAsStrings: env.boolean("NUMBERS_AS_STRINGS", false),
    };
  }, source);
}

/** Read apart from the rest: the logger must exist to report that the rest is wrong. */
export function readLogLevel(source: EnvSource = process.env): string {
  const level = source["LOG_LEVEL"] ?? "info";
  return ["trace", "debug", "info", "warn", "error", "fatal", "silent"].includes(level) ? level : "info";
}
