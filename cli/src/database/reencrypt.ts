import { databaseTime, transaction } from "@amana/database";
import type { SecretBox } from "@amana/secret-box";
import type { EncryptedColumn } from "@amana/service-host";
import { CommandError } from "../command-error.ts";
import { auditActor } from "./audit-actor.ts";
import type { OpenDatabase } from "./services.ts";

const batchRows = 500;
const nil = "00000000-0000-0000-0000-000000000000";

/**
 * Finds a service's secrets that are encrypted with keys other than `keyId`, and encrypts these
 * secrets with `keyId`, in short transactions. After an interruption, the next run continues with
 * the remaining rows. Returns the number of encrypted secrets. Throws CommandError at the end if
 * `box` could not decrypt some secrets.
 */
export async function reencrypt({ service, orm }: OpenDatabase, box: SecretBox, keyId: string, as: string): Promise<number> {
  let reencrypted = 0;
  let unreadable = 0;
  for (const sealedColumn of service.encryptedColumns ?? []) {
    for (const formerId of await otherKeyIds({ service, orm }, sealedColumn, keyId)) {
      for (let after: string | undefined = nil; after !== undefined; ) {
        const batch = await reencryptBatch({ service, orm }, sealedColumn, { box, formerId, keyId, as, after });
        reencrypted += batch.reencrypted;
        unreadable += batch.unreadable;
        after = batch.last;
      }
    }
  }
  if (unreadable > 0) {
    throw new CommandError(
      `${unreadable} secrets of ${service.name} cannot be decrypted: SECRET_ENCRYPTION_KEYS lacks their key, or the secrets were altered. Keep the old keys, add the missing key at the end of SECRET_ENCRYPTION_KEYS and run the command again.`,
    );
  }
  return reencrypted;
}

/** Returns the ids of the keys in a column, except `keyId`, with one index lookup for each key. */
async function otherKeyIds(
  { orm }: OpenDatabase,
  { table, lookUpIn = table, column }: EncryptedColumn,
  keyId: string,
): Promise<string[]> {
  const otherIds: string[] = [];
  for (let lastKeyId = ""; ; ) {
    const [row] = await orm.em
      .fork()
      .execute<{ id: string | null }[]>(
        `select min(split_part(${column}, ':', 1)) as id from ${lookUpIn} where ${column} is not null and split_part(${column}, ':', 1) > ?`,
        [lastKeyId],
      );
    if (!row || row.id === null) return otherIds;
    lastKeyId = row.id;
    if (lastKeyId !== keyId) otherIds.push(lastKeyId);
  }
}

async function reencryptBatch(
  { service, orm }: OpenDatabase,
  { table, lookUpIn = table, column }: EncryptedColumn,
  { box, formerId, keyId, as, after }: { box: SecretBox; formerId: string; keyId: string; as: string; after: string },
): Promise<{ reencrypted: number; unreadable: number; last: string | undefined }> {
  return await transaction(orm, async (em) => {
    const rows = await em.execute<{ id: string; old_text: string }[]>(
      `select id, ${column} as old_text from ${lookUpIn}
       where ${column} is not null and split_part(${column}, ':', 1) = ? and id > ? order by id limit ${batchRows}`,
      [formerId, after],
    );
    const readableRows = rows.flatMap(({ id, old_text }) => {
      try {
        return [{ id, old_text, new_text: box.encrypt(box.decrypt(old_text, id), id) }];
      } catch {
        return [];
      }
    });
    if (readableRows.length > 0) {
      // The comparison with `old_text` keeps the new value of a secret that a business rotated
      // after the read.
      await em.execute(
        `update ${table} t set ${column} = v.new_text from json_to_recordset(?::json) as v (id uuid, old_text text, new_text text)
         where t.id = v.id and t.${column} = v.old_text`,
        [JSON.stringify(readableRows)],
      );
      service.record(em, await databaseTime(em), {
        by: auditActor(as),
        action: "secrets.reencrypted",
        entity: { type: table, id: readableRows[0]?.id ?? "" },
        after: { service: service.name, column, key_id: keyId, rows: String(readableRows.length) },
      });
    }
    return { reencrypted: readableRows.length, unreadable: rows.length - readableRows.length, last: rows.at(-1)?.id };
  });
}
