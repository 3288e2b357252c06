import { createSocket } from "node:dgram";
import { once } from "node:events";

const typeA = 1;

/** Addresses of a host name as bytes: four for each IPv4 address, sixteen for each IPv6 address. */
export type NameRecords = Readonly<Record<string, readonly (readonly number[])[]>>;

/**
 * Starts a DNS server at a loopback address. It responds to queries for the names of `records`, and
 * to other queries with NXDOMAIN. It does not respond to queries for names that begin with
 * "silent".
 */
export async function startNameServer(records: NameRecords) {
  const server = createSocket("udp4");
  /** The name of each received query. */
  const queries: string[] = [];

  // Responds with the question and all records that fit its type (RFC 1035, section 4).
  server.on("message", (query, { port }) => {
    const labels: string[] = [];
    let at = 12;
    for (let length = query[at] ?? 0; length > 0; length = query[at] ?? 0) {
      labels.push(query.toString("latin1", at + 1, at + 1 + length));
      at += 1 + length;
    }
    const name = labels.join(".").toLowerCase();
    queries.push(name);
    if (name.startsWith("silent")) return;
    const type = query.readUInt16BE(at + 1);
    const addresses = records[name]?.filter(({ length }) => length === (type === typeA ? 4 : 16)) ?? [];
    const header = Buffer.from(query.subarray(0, 12));
    header.writeUInt16BE(records[name] ? 0x8180 : 0x8183, 2);
    header.writeUInt16BE(addresses.length, 6);
    header.writeUInt32BE(0, 8);
    const answers = addresses.flatMap((data) => [0xc0, 0x0c, 0, type, 0, 1, 0, 0, 0, 60, 0, data.length, ...data]);
    server.send(Buffer.concat([header, query.subarray(12, at + 5), Buffer.from(answers)]), port, "127.0.0.1");
  });
  await once(server.bind(0, "127.0.0.1"), "listening");

  return {
    /** Address and port, as `createNameResolver` expects them. */
    address: `127.0.0.1:${server.address().port}`,
    queries,
    [Symbol.asyncDispose]: () => new Promise<void>((resolve) => server.close(() => resolve())),
  };
}
