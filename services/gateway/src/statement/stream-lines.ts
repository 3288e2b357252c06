import type { ListStatementLinesResponse } from "@amana/contracts/payments/v1/statement_service_pb";
import type { StatementFormat } from "./formats.ts";

/**
 * Yields the text of a statement, page by page. Reads the next page while the consumer writes the
 * previous page, so that at most two pages are in memory.
 */
export async function* streamLines(
  first: ListStatementLinesResponse,
  { header, renderLine }: StatementFormat,
  readNext: (cursor: string) => Promise<ListStatementLinesResponse>,
): AsyncGenerator<string, void> {
  let totalMinor = 0n;
  let text = header;
  let page: ListStatementLinesResponse | undefined = first;
  while (page) {
    const nextPage: Promise<ListStatementLinesResponse> | undefined = page.nextCursor ? readNext(page.nextCursor) : undefined;
    // The consumer may stop before it uses the next page. Without this handler, a failed read would
    // then be an unhandled rejection.
    nextPage?.catch(() => {});
    for (const line of page.lines) {
      totalMinor += line.amountMinor;
      text += renderLine(line, totalMinor);
    }
    if (text !== "") yield text;
    text = "";
    page = await nextPage;
  }
}
