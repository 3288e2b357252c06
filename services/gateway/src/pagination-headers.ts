import type { FastifyReply, FastifyRequest } from "fastify";

/**
 * Maximum value of `X-Total-Count`. A list with more rows also has `X-Total-Count-Capped: true`.
 */
export const countedMax = 1_000;

/**
 * Sets the headers of a list page: the number of rows in the list, and links to other pages (RFC
 * 8288). If the number is capped, the page has no link to the last page, and has a link to the next
 * page if it is full.
 */
export function setPaginationHeaders(
  request: FastifyRequest,
  reply: FastifyReply,
  { total, totalIsCapped = false }: { total: number; totalIsCapped?: boolean },
  rowsOnPage: number,
): void {
  const { limit, offset } = request.query as { limit: number; offset: number };
  const { url } = request;
  const path = url.split("?", 1)[0] ?? url;
  const search = url.slice(path.length + 1);
  const link = (rel: string, linkedOffset: number) => {
    const query = new URLSearchParams(search);
    query.set("limit", String(limit));
    query.set("offset", String(linkedOffset));
    return `<${path}?${query}>; rel="${rel}"`;
  };
  const links = [link("first", 0)];
  if (totalIsCapped) reply.header("x-total-count-capped", "true");
  else links.push(link("last", Math.max(0, Math.ceil(total / limit) - 1) * limit));
  if (offset > 0) links.push(link("prev", Math.max(0, offset - limit)));
  if (totalIsCapped ? rowsOnPage === limit : offset + limit < total) links.push(link("next", offset + limit));
  reply.header("x-total-count", String(totalIsCapped ? countedMax : total)).header("link", links.join(", "));
}
