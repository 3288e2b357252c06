import { createHash } from "node:crypto";
import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";
import type { FastifyReply, FastifyRequest } from "fastify";
import Negotiator from "negotiator";

/** A file that does not change while the process runs. */
export interface StaticFile {
  /** Content type. */
  readonly type: string;
  readonly content: string | Buffer;
  /** Further headers. `cache-control` is `no-cache` unless set here. */
  readonly headers?: Readonly<Record<string, string>>;
}

interface Variant {
  readonly encoding: string | undefined;
  readonly bytes: Buffer;
  readonly etag: string;
}

/**
 * Minimum length in bytes of a response that is compressed. A shorter response fits into one
 * packet.
 */
const compressedFrom = 1_400;
/**
 * Quality of the Brotli compression. With the highest quality, the compression of the API reference
 * (4 MB) would take seconds.
 */
const brotliQuality = 6;

/**
 * Returns a handler for a file that never changes. The first request loads and compresses the file,
 * and all responses share its buffers. Browsers revalidate their copies by ETag (RFC 9110, section
 * 8.8.3).
 */
export function staticFile(load: () => StaticFile | Promise<StaticFile>) {
  let loading: Promise<{ file: StaticFile; variants: Variant[] }> | undefined;
  const loadOnce = async () => {
    const file = await load();
    return { file, variants: await variantsOf(file.content) };
  };
  return async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    loading ??= loadOnce().catch((error: unknown) => {
      loading = undefined;
      throw error;
    });
    const { file, variants } = await loading;
    const { "accept-encoding": accepted, "if-none-match": known } = request.headers;
    const variant = variants.find(({ encoding }) => encoding === undefined || accepts(accepted, encoding)) as Variant;
    reply.headers({ "cache-control": "no-cache", ...file.headers, etag: variant.etag, vary: "Accept-Encoding" });
    if (containsTag(known, variant.etag)) return reply.code(304).send();
    if (variant.encoding !== undefined) reply.header("content-encoding", variant.encoding);
    return reply.type(file.type).send(variant.bytes);
  };
}

/** Returns the variants in order of preference; the last variant is uncompressed. */
async function variantsOf(content: string | Buffer): Promise<Variant[]> {
  const bytes = Buffer.from(content);
  const hash = createHash("sha256").update(bytes).digest("base64url");
  const createVariant = (encoding: string | undefined, encodedBytes: Buffer): Variant => ({
    encoding,
    bytes: encodedBytes,
    etag: `"${hash}${encoding === undefined ? "" : `-${encoding}`}"`,
  });
  if (bytes.length < compressedFrom) return [createVariant(undefined, bytes)];
  const [brotli, gzipped] = await Promise.all([
    promisify(brotliCompress)(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: brotliQuality } }),
    promisify(gzip)(bytes),
  ]);
  return [createVariant("br", brotli), createVariant("gzip", gzipped), createVariant(undefined, bytes)];
}

/**
 * Returns whether Accept-Encoding accepts the encoding, by its name or with "*" (RFC 9110, section
 * 12.5.3). Reads only the first 1 000 characters of the header.
 */
const accepts = (header: string | undefined, encoding: string): boolean =>
  new Negotiator({ headers: { "accept-encoding": header?.slice(0, 1_000) ?? "" } }).encodings([encoding]).length > 0;

/**
 * Returns whether If-None-Match is "*" or has the tag, by weak comparison (RFC 9110, section
 * 13.1.2). The tag includes its quotes, so it cannot match a part of another tag.
 */
const containsTag = (header = "", etag: string): boolean => header.trim() === "*" || header.includes(etag);
