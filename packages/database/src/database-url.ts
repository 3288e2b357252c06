import type { EnvReader } from "@amana/runtime";

/**
 * Reads DATABASE_URL, and DATABASE_PASSWORD where the password does not stand in it: as it is,
 * whatever characters it has, or in a file of its own (DATABASE_PASSWORD_FILE). Where several are
 * set, each has a prefix: "PAYMENTS_".
 */
export function readDatabaseUrl(env: EnvReader, prefix = ""): string {
  const [name, passwordName] = [`${prefix}DATABASE_URL`, `${prefix}DATABASE_PASSWORD`];
  const text = env.string(name);
  const password = env.optional(passwordName);
  if (password === undefined || text === "") return text;
  const url = URL.parse(text);
  if (!url?.host) {
    // The address may have a password in it, so the message does not repeat it.
    env.problem(`${name} must be written postgres://user@host:port/database`);
    return text;
  }
  if (url.password !== "") env.problem(`${name} has a password in it, and ${passwordName} is set: leave one out`);
  url.password = encodeURIComponent(password);
  return url.href;
}
