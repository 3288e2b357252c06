import type { FastifyReply, FastifyRequest } from "fastify";

/**
 * The headers of a list: how many there are in all, and where its other pages are (RFC 8288). One
 * that finds more than is counted says so, and has no last page; there, a page that is not full has
 * none behind it.
 */
export function pageHeaders(
  request: FastifyRequest,
  reply: FastifyReply,
  { total, totalIsCapped = false }: { total: number; totalIsCapped?: boolean },
  shown: number,
): void {
  const { limit, offset } = request.query as { limit: number; offset: number };
  const { url } = request;
  const path = url.split("?", 1)[0] ?? url;
  const search = url.slice(path.length + 1);
  const link = (rel: string, to: number) => {
    const query = new URLSearchParams(search);
    query.set("limit", String(limit));
    query.set("offset", String(to));
    return `<${path}?${query}>; rel="${rel}"`;
  };
  const links = [link("first", 0)];
  if (totalIsCapped) reply.header("x-total-count-capped", "true");
  else links.push(link("last", Math.max(0, Math.ceil(total / limit) - 1) * limit));
  if (offset > 0) links.push(link("prev", Math.max(0, offset - limit)));
  if (totalIsCapped ? shown === limit : offset + limit < total) links.push(link("next", offset + limit));
  reply.header("x-total-count", String(total)).header("link", links.join(", "));
}
