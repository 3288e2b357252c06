import type { StatementService } from "@amana/contracts/payments/v1/statement_service_pb";
import { StatementLineType } from "@amana/contracts/payments/v1/statement_service_pb";
import { type Implementation, requireBusiness } from "@amana/rpc";
import type { Context } from "../context.ts";
import { statementNotReady } from "../payment/payment.errors.ts";
import {
  firstCursor,
  type LineRow,
  linesPerPage,
  readLines,
  readUntil,
  type StatementCursor,
} from "../statement/statement-lines.ts";

/** Returns a page of the caller's money movements, oldest first. */
export const listStatementLines =
  ({ orm }: Context): Implementation<typeof StatementService.method.listStatementLines> =>
  async ({ fromMs, toMs, cursor }, { caller }) => {
    const businessId = requireBusiness(caller);
    const em = orm.em.fork();
    const pageCursor = cursor === undefined ? await readStart(em, fromMs, toMs) : parseCursor(cursor);
    const rows = await readLines(em, businessId, pageCursor);
    const last = rows.length === linesPerPage ? rows.at(-1) : undefined;
    return {
      lines: rows.map(toLine),
      untilMs: BigInt(pageCursor.until.getTime()),
      ...(last && { nextCursor: formatCursor({ until: pageCursor.until, at: new Date(last.at), id: last.id }) }),
    };
  };

async function readStart(em: Parameters<typeof readUntil>[0], fromMs: bigint, toMs: bigint): Promise<StatementCursor> {
  const until = await readUntil(em, new Date(Number(toMs)));
  if (!until) throw statementNotReady();
  return firstCursor(new Date(Number(fromMs)), until);
}

const formatCursor = ({ until, at, id }: StatementCursor) => `${until.getTime()}.${at.getTime()}.${id}`;

function parseCursor(cursor: string): StatementCursor {
  const [, untilMs, atMs, id] = /^(\d{1,15})\.(\d{1,15})\.([0-9a-f-]{36})$/.exec(cursor) ?? [];
  if (id === undefined) throw new TypeError("the cursor was not returned by ListStatementLines");
  return { until: new Date(Number(untilMs)), at: new Date(Number(atMs)), id };
}

const toLine = (row: LineRow) => ({
  atMs: BigInt(new Date(row.at).getTime()),
  type: StatementLineType[row.type],
  paymentId: row.payment_id,
  ...(row.payment_link_id !== null && { paymentLinkId: row.payment_link_id }),
  ...(row.order_ref !== null && { orderRef: row.order_ref }),
  processorOrderNumber: row.processor_order_number,
  amountMinor: BigInt(row.amount_minor),
  currency: row.currency,
  ...(row.origin !== null && { origin: row.origin }),
});
