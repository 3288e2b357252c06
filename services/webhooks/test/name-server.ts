import { createSocket } from "node:dgram";
import { once } from "node:events";

const typeA = 1;
const typeTxt = 16;

/** Addresses of a host name as bytes: four for each IPv4 address, sixteen for each IPv6 address. */
export type NameRecords = Readonly<Record<string, readonly (readonly number[])[]>>;

/**
 * Starts a DNS server at a loopback address. It responds to queries for the names of `records`, and
 * to other queries with NXDOMAIN. If `hasFaults` is true, the start of a name can select another
 * behaviour:
 * - "silent": no response
 * - "failing": SERVFAIL
 * - "old": FORMERR without the question for a query with EDNS
 * - "forged": three messages with other addresses that are no responses to the query, then a
 *   response
 * - "truncated": a truncated response without records
 * - "long": a response with 100 additional records of the type TXT
 */
export async function startNameServer(recordsByName: NameRecords, { hasFaults = true } = {}) {
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
    const type = query.readUInt16BE(at + 1);
    const hasFault = (start: string) => hasFaults && name.startsWith(start);
    if (hasFault("silent")) return;
    const question = query.subarray(12, at + 5);
    const respond = (flags: number, answers: readonly number[][], { idOffset = 0, asked = question } = {}) => {
      const header = Buffer.alloc(12);
      header.writeUInt16BE((query.readUInt16BE(0) + idOffset) % 0x1_0000, 0);
      header.writeUInt16BE(flags, 2);
      header.writeUInt16BE(asked.length > 0 ? 1 : 0, 4);
      header.writeUInt16BE(answers.length, 6);
      server.send(Buffer.concat([header, asked, Buffer.from(answers.flat())]), port, "127.0.0.1");
    };
    const recordOf = (recordType: number, data: readonly number[]) => [
      ...[0xc0, 0x0c, 0, recordType, 0, 1, 0, 0, 0, 60, 0],
      ...[data.length, ...data],
    ];
    if (hasFault("old") && query.readUInt16BE(10) > 0) return respond(0x8181, [], { asked: Buffer.alloc(0) });
    if (hasFault("failing")) return respond(0x8182, []);
    if (hasFault("truncated")) return respond(0x8380, []);
    if (hasFault("forged")) {
      const otherAddress = recordOf(type, Array(type === typeA ? 4 : 16).fill(32));
      respond(0x8180, [otherAddress], { idOffset: 1 });
      respond(0x0100, [otherAddress]);
      respond(0x8180, [otherAddress], { asked: Buffer.concat([Buffer.from([1, 120]), question]) });
    }
    const records = recordsByName[name];
    const addresses = records?.filter(({ length }) => length === (type === typeA ? 4 : 16)) ?? [];
    const answers = addresses.map((data) => recordOf(type, data));
    if (hasFault("long")) answers.push(...Array(100).fill(recordOf(typeTxt, [1, 65])));
    respond(records ? 0x8180 : 0x8183, answers);
  });
  await once(server.bind(0, "127.0.0.1"), "listening");

  return {
    /** Address and port, as `createNameResolver` expects them. */
    address: `127.0.0.1:${server.address().port}`,
    queries,
    [Symbol.asyncDispose]: () => new Promise<void>((resolve) => server.close(() => resolve())),
  };
}
