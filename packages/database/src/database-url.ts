import type { EnvReader } from "@amana/runtime";

/**
 * Returns the connection URL. Reads DATABASE_URL and the optional DATABASE_PASSWORD, which must not
 * be percent-encoded. DATABASE_PASSWORD_FILE can name a file that contains the password. `prefix`
 * distinguishes the settings of several databases, for example "PAYMENTS_".
 */
export function readDatabaseUrl(env: EnvReader, prefix = ""): string {
  const [name, passwordName] = [`${prefix}DATABASE_URL`, `${prefix}DATABASE_PASSWORD`];
  const text = env.string(name);
  const password = env.optional(passwordName);
  if (password === undefined || text === "") return text;
  const url = URL.parse(text);
  if (!url?.host) {
    // The URL may contain a password, so the message does not repeat it.
    env.problem(`${name} must be written postgres://user@host:port/database`);
    return text;
  }
  if (url.password !== "") env.problem(`${name} contains a password, and ${passwordName} is set; remove one of them`);
  url.password = encodeURIComponent(password);
  return url.href;
}
