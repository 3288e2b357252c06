import { decryptIfReadable } from "@amana/secret-box";
import type { Context } from "../context.ts";

const batchMax = 200;
const lowestId = "00000000-0000-0000-0000-000000000000";

/**
 * Creates a function that encrypts one batch of links with the current key again, so that former
 * keys can be removed from the settings. The function returns the number of links in the batch, or
 * 0 when it has processed all links. It does not change links that no configured key can decrypt.
 */
export function createReencryption({ orm, secrets, logger }: Context): () => Promise<number> {
  const { formerKeyIds } = secrets;
  let afterId = lowestId;
  let [reencrypted, unreadable] = [0, 0];

  return async () => {
    if (formerKeyIds.length === 0) return 0;
    const em = orm.em.fork();
    const rows = await em.execute<{ id: string; link_ciphertext: string }[]>(
      `select id, link_ciphertext from kyc_application_of_tenants
       where split_part(link_ciphertext, ':', 1) = any (string_to_array(?, ',')) and id > ? order by id limit ${batchMax}`,
      [formerKeyIds.join(), afterId],
    );
    const lastRow = rows.at(-1);
    if (!lastRow) {
      logger.info(
        { former_key_ids: formerKeyIds, reencrypted, unreadable },
        "check of links that are encrypted with former keys ended",
      );
      afterId = lowestId;
      [reencrypted, unreadable] = [0, 0];
      return 0;
    }
    const renewedLinks = rows.flatMap(({ id, link_ciphertext: ciphertext }) => {
      const link = decryptIfReadable(secrets, ciphertext, id, logger);
      return link === undefined ? [] : [{ id, former: ciphertext, current: secrets.encrypt(link, id) }];
    });
    await em.execute(
      `update kyc_application a set link_ciphertext = v.current
       from json_to_recordset(?::json) as v (id uuid, former text, current text)
       where a.id = v.id and a.link_ciphertext = v.former`,
      [JSON.stringify(renewedLinks)],
    );
    // Advances `afterId` only after the update, so that a failed batch is repeated.
    afterId = lastRow.id;
    reencrypted += renewedLinks.length;
    unreadable += rows.length - renewedLinks.length;
    return rows.length;
  };
}
