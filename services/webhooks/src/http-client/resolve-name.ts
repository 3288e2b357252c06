import { randomInt } from "node:crypto";
import { createSocket } from "node:dgram";
import { getServers, type LookupAddress } from "node:dns";
import { isIP } from "node:net";
import { type DecodedPacket, decode, encode, type Packet, RECURSION_DESIRED } from "dns-packet";

export type Resolve = (host: string) => Promise<LookupAddress[]>;

type RecordType = "A" | "AAAA";

/** Maximum wait for the response to a query, after which the resolver sends the next query. */
const timeoutMs = 2_000;
/**
 * Maximum length of a response over UDP that most networks transmit without fragments (DNS Flag Day
 * 2020). Such a response can contain 40 IPv6 addresses.
 */
const responseBytesMax = 1_232;
/** Maximum number of addresses of a host name. */
const addressesMax = 32;
const portDefault = 53;
const localhost = /(^|\.)localhost\.?$/i;

/** Thrown if the response of a name server is truncated or has more than `responseBytesMax`. */
export class ResponseTooLarge extends Error {
  constructor() {
    super(`the response of the name server is truncated or has more than ${responseBytesMax} bytes`);
    this.name = "ResponseTooLarge";
  }
}

/** Thrown if a name server does not accept a query with EDNS (RFC 6891, section 7). */
class EdnsNotSupported extends Error {}

/** Thrown for a host name with more than `addressesMax` addresses. */
export class TooManyAddresses extends Error {
  constructor() {
    super(`the host name has more than ${addressesMax} addresses`);
    this.name = "TooManyAddresses";
  }
}

/**
 * Creates a resolver that queries name servers over UDP, by default those of the operating system.
 * It returns no addresses for an unknown name, and throws ENOTFOUND for an invalid name. If it has
 * no addresses because the query for an address family failed, it throws EAI_AGAIN or
 * ResponseTooLarge. EAI_AGAIN means that no name server gave a usable response. Tests set
 * `servers`, each as address:port.
 *
 * The resolver replaces both resolvers of Node.js. `lookup` would block one of the process's few
 * threads for each query, so any business could delay all deliveries with names whose servers do
 * not respond. `Resolver` accepts responses of 64 KiB over TCP, and parsing two of them takes up to
 * 150 ms of CPU time. This resolver sends no queries over TCP.
 */
export function createNameResolver(servers = getServers()): Resolve {
  const parsedServers = servers.map(parseServer);
  return async (host) => {
    // RFC 6761, section 6.3: localhost names must not be sent to name servers.
    if (localhost.test(host)) return [{ address: "127.0.0.1", family: 4 }];
    const name = host.toLowerCase().replace(/\.$/, "");
    if (!isValidName(name)) throw notFound();
    const results = await Promise.allSettled([query(parsedServers, name, "A"), query(parsedServers, name, "AAAA")]);
    const addresses = results.flatMap((result, i) =>
      result.status === "fulfilled" ? result.value.map((address) => ({ address, family: i === 0 ? 4 : 6 })) : [],
    );
    const [failure] = results.filter((result) => result.status === "rejected");
    if (addresses.length === 0 && failure) throw failure.reason;
    return addresses;
  };
}

/**
 * Limits the work that a host name causes. Concurrent calls for a name share one resolution. Throws
 * TooManyAddresses for a name with too many addresses, and ENOTFOUND for a name without addresses.
 */
export function limitResolver(resolve: Resolve): Resolve {
  const inFlight = new Map<string, Promise<LookupAddress[]>>();
  const resolveFew: Resolve = async (host) => {
    const addresses = await resolve(host);
    // Node.js throws an uncaught error if a socket's lookup returns an empty list.
    if (addresses.length === 0) throw notFound();
    if (addresses.length > addressesMax) throw new TooManyAddresses();
    return addresses;
  };
  return async (host) => {
    let resolving = inFlight.get(host);
    if (!resolving) {
      resolving = resolveFew(host).finally(() => inFlight.delete(host));
      inFlight.set(host, resolving);
    }
    return await resolving;
  };
}

/** Returns whether each label of the name has 1 to 63 bytes (RFC 1035, section 2.3.4). */
const isValidName = (name: string): boolean => name.split(".").every(({ length }) => length >= 1 && length <= 63);

const notFound = () => Object.assign(new Error("the host name has no address"), { code: "ENOTFOUND" });

interface Server {
  readonly address: string;
  readonly port: number;
}

/** Parses an entry of `getServers`: an address, or an address and port such as [::1]:5353. */
function parseServer(text: string): Server {
  if (isIP(text) !== 0) return { address: text, port: portDefault };
  const [, address = "", port] = /^\[?(.*?)\]?:(\d+)$/.exec(text) ?? [];
  return { address, port: Number(port) };
}

/**
 * Returns the addresses of a name in one address family; none if the name is unknown. Queries one
 * name server after another until one gives a usable response. Moves this name server to the start
 * of `servers`, so that later names do not wait for a name server that does not respond.
 */
async function query(servers: Server[], name: string, type: RecordType): Promise<string[]> {
  let error: unknown;
  let hasEdns = true;
  const order = [...servers, ...servers];
  for (const [attempt, server] of order.entries()) {
    try {
      const addresses = await queryServer(server, { name, type }, hasEdns);
      if (attempt > 0) servers.unshift(...servers.splice(servers.indexOf(server), 1));
      return addresses;
    } catch (thrown) {
      // Another name server may permit larger responses.
      if (thrown instanceof ResponseTooLarge && attempt >= servers.length - 1) throw thrown;
      if (thrown instanceof EdnsNotSupported) hasEdns = false;
      error = thrown;
    }
  }
  throw Object.assign(new Error("no name server gave a usable response", { cause: error }), { code: "EAI_AGAIN" });
}

/**
 * Sends a query and returns the addresses of the response. The query has a random id, and its own
 * socket with a random port, so that a third party can hardly forge the response (RFC 5452). Throws
 * if no usable response arrives in time.
 */
async function queryServer({ address, port }: Server, question: { name: string; type: RecordType }, hasEdns: boolean) {
  const id = randomInt(0x1_0000);
  const packet = encode(packetOf(id, question, hasEdns));
  const socket = createSocket(isIP(address) === 6 ? "udp6" : "udp4");
  const { promise, resolve, reject } = Promise.withResolvers<string[]>();
  const timer = setTimeout(() => reject(new Error("the name server did not respond in time")), timeoutMs);
  try {
    socket.on("error", reject);
    socket.on("message", (message) => {
      try {
        const addresses = readAddresses(message, id, question);
        if (addresses) resolve(addresses);
      } catch (error) {
        reject(error);
      }
    });
    socket.once("connect", () => socket.send(packet));
    // Passes no callback, because Node.js would also call it after a failure.
    socket.connect(port, address);
    return await promise;
  } finally {
    clearTimeout(timer);
    socket.close();
  }
}

const packetOf = (id: number, question: { name: string; type: RecordType }, hasEdns: boolean): Packet => ({
  type: "query",
  id,
  flags: RECURSION_DESIRED,
  questions: [question],
  additionals: hasEdns
    ? [
        {
          type: "OPT",
          name: ".",
          udpPayloadSize: responseBytesMax,
          extendedRcode: 0,
          ednsVersion: 0,
          flags: 0,
          flag_do: false,
          options: [],
        },
      ]
    : [],
});

/**
 * Returns the addresses of a response, or undefined if the message does not belong to the query.
 * Throws if the response is not usable.
 */
function readAddresses(message: Buffer, id: number, { name, type }: { name: string; type: RecordType }): string[] | undefined {
  if (message.length > responseBytesMax) throw new ResponseTooLarge();
  const response = decode(message) as DecodedPacket & { readonly rcode: string };
  if (response.type !== "response" || response.id !== id) return undefined;
  const [question] = response.questions ?? [];
  const isSameQuestion = question?.type === type && question.name.toLowerCase() === name;
  // A name server that does not accept a query may omit the question.
  if (question ? !isSameQuestion : response.rcode === "NOERROR") return undefined;
  if (response.rcode === "FORMERR" || response.rcode === "NOTIMP") throw new EdnsNotSupported(response.rcode);
  if (response.flag_tc) throw new ResponseTooLarge();
  if (response.rcode === "NXDOMAIN") return [];
  if (response.rcode !== "NOERROR") throw new Error(`the name server responded with ${response.rcode}`);
  // The response also contains the aliases that lead to the addresses (RFC 1034, section 4.3.2).
  return (response.answers ?? []).flatMap((answer) => (answer.type === type ? [String(answer.data)] : []));
}
