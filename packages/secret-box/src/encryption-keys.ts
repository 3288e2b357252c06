import type { EnvReader } from "@amana/runtime";
import type { EncryptionKey } from "./secret-box.ts";

/**
 * Reads a setting such as SECRET_ENCRYPTION_KEYS: "id:base64 of 32 bytes", at least one. The
 * first encrypts. Problems name an entry by its place, never its text.
 */
export function readEncryptionKeys(env: EnvReader, name: string): EncryptionKey[] {
  const keys = env.words(name).map((entry) => {
    const colon = entry.indexOf(":");
    return { id: entry.slice(0, Math.max(0, colon)), key: Buffer.from(entry.slice(colon + 1), "base64") };
  });
  for (const [index, { id, key }] of keys.entries()) {
    const place = `${name}: entry ${index + 1}`;
    if (!/^[A-Za-z0-9_-]{1,32}$/.test(id)) env.problem(`${place} must be written id:base64, the id 1 to 32 letters or digits`);
    else if (key.length !== 32) env.problem(`${place} must be 32 bytes in base64, not ${key.length}`);
  }
  if (new Set(keys.map(({ id }) => id)).size < keys.length) env.problem(`${name} names one key id twice`);
  return keys;
}
