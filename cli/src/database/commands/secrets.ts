import { readEnv } from "@amana/runtime";
import { createSecretBox, readEncryptionKeys } from "@amana/secret-box";
import type { Command } from "commander";
import { CommandError, exitCodes } from "../../command-error.ts";
import { type ChangeOptions, withChangeOptions } from "../../options.ts";
import { printRows } from "../../print.ts";
import { reencrypt } from "../reencrypt.ts";
import { withServices } from "../services.ts";

const servicesWithSecrets = ["kyc", "webhooks"];

/** Adds `secrets reencrypt`, one step of a key rotation. docs/secrets.md has the other steps. */
export function secrets(program: Command): void {
  const group = program.command("secrets").description("encrypt stored secrets with a new key");
  withChangeOptions(
    group
      .command("reencrypt")
      .description(
        "encrypt the stored secrets of webhooks and kyc with the first key of SECRET_ENCRYPTION_KEYS; repeatable (docs/secrets.md)",
      ),
    "secrets reencrypt",
  ).action(reencryptAll);
}

async function reencryptAll({ as, json, ...selection }: ChangeOptions): Promise<void> {
  const { keys } = readEnv((env) => ({ keys: readEncryptionKeys(env, "SECRET_ENCRYPTION_KEYS") }));
  const needed =
    selection.service === undefined ? servicesWithSecrets : servicesWithSecrets.filter((name) => name === selection.service);
  const keyId = keys[0]?.id ?? "";
  const rows = await withServices({ ...selection, usableServices: needed }, async (databases) => {
    const missing = needed.filter((name) => !databases.some(({ service }) => service.name === name));
    // Rejects a partial run. If an operator removed the old key after such a run, the secrets that
    // were not encrypted again could not be decrypted.
    if (missing.length > 0)
      throw new CommandError(
        `No secret was encrypted: the database of ${missing.join(", ")} does not respond. Start it and run the command again.`,
        exitCodes.unreachable,
      );
    const results: { service: string; key: string; reencrypted: number }[] = [];
    for (const database of databases) {
      const reencrypted = await reencrypt(database, createSecretBox(keys), keyId, as);
      results.push({ service: database.service.name, key: keyId, reencrypted });
    }
    return results;
  });
  printRows(
    rows,
    { SERVICE: ({ service }) => service, KEY: ({ key }) => key, REENCRYPTED: ({ reencrypted }) => reencrypted },
    { json },
  );
}
