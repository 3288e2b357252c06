import type { EnvReader } from "@amana/runtime";

/**
 * Reads DATABASE_URL, and DATABASE_PASSWORD where the password does not stand in it: as it is,
 * whatever characters it has, or in a file of its own (DATABASE_PASSWORD_FILE).
 */
export function readDatabaseUrl(env: EnvReader): string {
  const text = env.string("DATABASE_URL");
  const password = env.optional("DATABASE_PASSWORD");
  if (password === undefined || text === "") return text;
  const url = URL.parse(text);
  if (!url?.host) {
    // The address may have a password in it, so the message does not repeat it.
    env.problem("DATABASE_URL must be written postgres://user@host:port/database");
    return text;
  }
  if (url.password !== "") env.problem("DATABASE_URL has a password in it, and DATABASE_PASSWORD is set: leave one out");
  url.password = encodeURIComponent(password);
  return url.href;
}
