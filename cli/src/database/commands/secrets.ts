import { readEnv } from "@amana/runtime";
import { createSecretBox, readEncryptionKeys } from "@amana/secret-box";
import type { Command } from "commander";
import { type ChangeOptions, withChangeOptions } from "../../options.ts";
import { printRows } from "../../print.ts";
import { exitCodes, Refused } from "../../refused.ts";
import { reencrypt } from "../reencrypt.ts";
import { withServices } from "../services.ts";

const sealing = ["kyc", "webhooks"];

/** The step of a rotation that changes rows. docs/secrets.md has the other steps. */
export function secrets(program: Command): void {
  const noun = program.command("secrets").description("reencrypt: encrypt stored secrets with the first key");
  withChangeOptions(
    noun
      .command("reencrypt")
      .description(
        "encrypt the stored secrets of webhooks and kyc with the first key of SECRET_ENCRYPTION_KEYS; safe to repeat (docs/secrets.md)",
      ),
    "secrets reencrypt",
  ).action(reencryptAll);
}

async function reencryptAll({ as, json, ...selection }: ChangeOptions): Promise<void> {
  const { keys } = readEnv((env) => ({ keys: readEncryptionKeys(env, "SECRET_ENCRYPTION_KEYS") }));
  const needed = selection.service === undefined ? sealing : sealing.filter((name) => name === selection.service);
  const keyId = keys[0]?.id ?? "";
  const rows = await withServices({ ...selection, needed }, async (opened) => {
    const missing = needed.filter((name) => !opened.some(({ service }) => service.name === name));
    // An old key that is removed after half of the work makes the other half unreadable.
    if (missing.length > 0)
      throw new Refused(
        `No secret was encrypted: the database of ${missing.join(", ")} does not answer. Run the command again when it does.`,
        exitCodes.unreachable,
      );
    const done: { service: string; key: string; reencrypted: number }[] = [];
    for (const at of opened) {
      const reencrypted = await reencrypt(at, createSecretBox(keys), keyId, as);
      done.push({ service: at.service.name, key: keyId, reencrypted });
    }
    return done;
  });
  printRows(
    rows,
    { SERVICE: ({ service }) => service, KEY: ({ key }) => key, REENCRYPTED: ({ reencrypted }) => reencrypted },
    { json, none: "" },
  );
}
