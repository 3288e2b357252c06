import type { FastifyReply, FastifyRequest } from "fastify";

/**
 * Maximum value of `X-Total-Count`. A list with more rows also has `X-Total-Count-Capped: true`.
 */
export const countedMax = 1_000;

/**
 * Sets the headers of a list: the number of its rows, and links to its other pages (RFC 8288). A
 * capped list has no link to the last page, and a page that is not full has no next page.
 */
export function setPageHeaders(
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
