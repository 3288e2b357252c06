import { databaseTime, transaction } from "@amana/database";
import type { SecretBox } from "@amana/secret-box";
import type { SealedColumn } from "@amana/service-host";
import { CommandError } from "../command-error.ts";
import { auditActor } from "./audit-actor.ts";
import type { OpenDatabase } from "./services.ts";

const batchRows = 500;
const nil = "00000000-0000-0000-0000-000000000000";

/**
 * Encrypts each secret of a service that is not under `keyId` with that key, in short transactions.
 * A run after an interrupted one continues with the rows that are left. Returns the number of
 * secrets. Throws CommandError at the end if `box` could not decrypt some.
 */
export async function reencrypt({ service, orm }: OpenDatabase, box: SecretBox, keyId: string, as: string): Promise<number> {
  let done = 0;
  let unreadable = 0;
  for (const sealed of service.sealed ?? []) {
    for (const formerId of await otherKeyIds({ service, orm }, sealed, keyId)) {
      for (let after: string | undefined = nil; after !== undefined; ) {
        const batch = await reencryptBatch({ service, orm }, sealed, { box, formerId, keyId, as, after });
        done += batch.done;
        unreadable += batch.unreadable;
        after = batch.last;
      }
    }
  }
  if (unreadable > 0) {
    throw new CommandError(
      `${unreadable} secrets of ${service.name} cannot be decrypted: SECRET_ENCRYPTION_KEYS lacks their key, or they were altered. Keep the old key, add the missing one at the end of SECRET_ENCRYPTION_KEYS and run the command again.`,
    );
  }
  return done;
}

/** Returns the ids of the keys in a column, except `keyId`, with one index lookup for each key. */
async function otherKeyIds(
  { orm }: OpenDatabase,
  { table, lookUpIn = table, column }: SealedColumn,
  keyId: string,
): Promise<string[]> {
  const found: string[] = [];
  for (let last = ""; ; ) {
    const [row] = await orm.em
      .fork()
      .execute<{ id: string | null }[]>(
        `select min(split_part(${column}, ':', 1)) as id from ${lookUpIn} where ${column} is not null and split_part(${column}, ':', 1) > ?`,
        [last],
      );
    if (!row || row.id === null) return found;
    last = row.id;
    if (last !== keyId) found.push(last);
  }
}

async function reencryptBatch(
  { service, orm }: OpenDatabase,
  { table, lookUpIn = table, column }: SealedColumn,
  { box, formerId, keyId, as, after }: { box: SecretBox; formerId: string; keyId: string; as: string; after: string },
): Promise<{ done: number; unreadable: number; last: string | undefined }> {
  return await transaction(orm, async (em) => {
    const rows = await em.execute<{ id: string; was: string }[]>(
      `select id, ${column} as was from ${lookUpIn}
       where ${column} is not null and split_part(${column}, ':', 1) = ? and id > ? order by id limit ${batchRows}`,
      [formerId, after],
    );
    const renewed = rows.flatMap(({ id, was }) => {
      try {
        return [{ id, was, becomes: box.encrypt(box.decrypt(was, id), id) }];
      } catch {
        return [];
      }
    });
    if (renewed.length > 0) {
      // A secret that a business has rotated in the meantime keeps its new value.
      await em.execute(
        `update ${table} t set ${column} = v.becomes from json_to_recordset(?::json) as v (id uuid, was text, becomes text)
         where t.id = v.id and t.${column} = v.was`,
        [JSON.stringify(renewed)],
      );
      service.record(em, await databaseTime(em), {
        by: auditActor(as),
        action: "secrets.reencrypted",
        entity: { type: table, id: renewed[0]?.id ?? "" },
        after: { service: service.name, column, key_id: keyId, rows: String(renewed.length) },
      });
    }
    return { done: renewed.length, unreadable: rows.length - renewed.length, last: rows.at(-1)?.id };
  });
}
