import type { EnvReader } from "@amana/runtime";
import type { EncryptionKey } from "./secret-box.ts";

/**
 * Reads the keys of a setting such as SECRET_ENCRYPTION_KEYS. The setting has one or more entries
 * of the form `id:base64`, each with a key of 32 bytes. The first key encrypts. Reported problems
 * contain the number of an entry, never its text, which is secret.
 */
export function readEncryptionKeys(env: EnvReader, name: string): EncryptionKey[] {
  const keys = env.words(name).map((entry) => {
    const colon = entry.indexOf(":");
    return { id: entry.slice(0, Math.max(0, colon)), key: Buffer.from(entry.slice(colon + 1), "base64") };
  });
  for (const [index, { id, key }] of keys.entries()) {
    const entry = `${name}: entry ${index + 1}`;
    if (!/^[A-Za-z0-9_-]{1,32}$/.test(id))
      env.problem(`${entry} must be written id:base64, with an id of 1 to 32 letters, digits, "_" or "-"`);
    else if (key.length !== 32) env.problem(`${entry} must be 32 bytes in base64, not ${key.length} bytes`);
  }
  if (new Set(keys.map(({ id }) => id)).size < keys.length)
    env.problem(`${name} has the same key id twice; give each key its own id`);
  return keys;
}
