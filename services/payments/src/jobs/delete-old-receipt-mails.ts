import { deleteOld } from "@amana/database";
import type { Context } from "../context.ts";

/**
 * Deletes a batch of receipt e-mails that are older than 30 days, because the rows contain e-mail
 * addresses.
 */
export const deleteOldReceiptMails = ({ orm }: Pick<Context, "orm">): Promise<number> =>
  deleteOld(orm.em.fork(), { table: "receipt_mail", since: "created_at", olderThan: "30 days" });
