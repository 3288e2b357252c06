import { decryptIfReadable } from "@amana/secret-box";
import type { Context } from "../context.ts";

const batchMax = 200;
const first = "00000000-0000-0000-0000-000000000000";

/**
 * Encrypts links that are still under a former key with the current one, so that the former one can
 * be taken away. Under a key that is not ours at all nothing can be done, and such links are left
 * as they are. Gives a function that does one batch and answers how many links it looked at; a pass
 * through all of them ends with none.
 */
export function createReencryption({ orm, secrets, logger }: Context): () => Promise<number> {
  const { formerKeyIds } = secrets;
  let after = first;
  let [done, unreadable] = [0, 0];

  return async () => {
    if (formerKeyIds.length === 0) return 0;
    const em = orm.em.fork();
    const rows = await em.execute<{ id: string; link_ciphertext: string }[]>(
      `select id, link_ciphertext from kyc_application_of_tenants
       where split_part(link_ciphertext, ':', 1) = any (string_to_array(?, ',')) and id > ? order by id limit ${batchMax}`,
      [formerKeyIds.join(), after],
    );
    const last = rows.at(-1);
    if (!last) {
      logger.info({ former_key_ids: formerKeyIds, reencrypted: done, unreadable }, "links were looked through for former keys");
      after = first;
      [done, unreadable] = [0, 0];
      return 0;
    }
    const renewed = rows.flatMap(({ id, link_ciphertext: was }) => {
      const link = decryptIfReadable(secrets, was, id, logger);
      return link === undefined ? [] : [{ id, was, becomes: secrets.encrypt(link, id) }];
    });
    await em.execute(
      `update kyc_application a set link_ciphertext = v.becomes
       from json_to_recordset(?::json) as v (id uuid, was text, becomes text)
       where a.id = v.id and a.link_ciphertext = v.was`,
      [JSON.stringify(renewed)],
    );
    // Only now: a batch that fails is done again.
    after = last.id;
    done += renewed.length;
    unreadable += rows.length - renewed.length;
    return rows.length;
  };
}
