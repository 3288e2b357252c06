import { constants } from "node:crypto";
import { connect as connectTcp, isIP, type LookupFunction, type Socket } from "node:net";
import { DEFAULT_CIPHERS, type TLSSocket } from "node:tls";
import { buildConnector } from "undici";
import { type AddressGuard, AddressNotPublic } from "./address-guard.ts";
import { LimitedRecords } from "./limit-records.ts";
import { limitResponse } from "./limit-response.ts";

/**
 * The elliptic curves of OpenSSL's default list, without the finite fields of TLS 1.3. A key
 * exchange with the largest field (ffdhe8192) takes 250 ms of CPU time. The client sends the keys
 * of the groups with an asterisk with its first message.
 */
const keyExchangeGroups = "*X25519MLKEM768:*X25519:P-256:X448:P-384:P-521";

/**
 * Time for which the client waits for a connection to an address before it tries the next address
 * of the host name. The default of Node.js is 500 ms. With this default, an attempt would fail
 * after one lost SYN packet if the receiver also has an unreachable IPv6 address. The kernel sends
 * the packet again after 1 s.
 */
const addressTimeoutMs = 1_500;

/**
 * Creates a connector that rejects forbidden addresses and limits what a receiver sends. For a host
 * name, it checks the addresses when the socket resolves the name. For an IP address, it checks the
 * address before connecting, because the socket resolves nothing. The connector uses only HTTP/1.1,
 * so that an aborted connection affects no other request. It refuses TLS renegotiation, which would
 * repeat the cost of the handshake after the request has released its slot for connecting.
 *
 * The connector calls `beginHandshake` when it begins to open a TLS connection. It calls the
 * returned function with the CPU time of each TLS record during the handshake, in milliseconds.
 */
export function guardedConnector(
  addresses: AddressGuard,
  timeoutMs: number,
  beginHandshake: () => (cpuMs: number) => void,
): buildConnector.connector {
  const lookup: LookupFunction = (hostname, { all }, callback) => {
    addresses.resolve(hostname).then(
      (resolvedAddresses) =>
        all
          ? callback(null, [...resolvedAddresses])
          : callback(null, resolvedAddresses[0]?.address ?? "", resolvedAddresses[0]?.family),
      (error: NodeJS.ErrnoException) => callback(error, "", 0),
    );
  };
  const connect = buildConnector({
    timeout: timeoutMs,
    autoSelectFamilyAttemptTimeout: addressTimeoutMs,
    allowH2: false,
    lookup,
    maxCachedSessions: 1_000,
    secureOptions: constants.SSL_OP_NO_RENEGOTIATION,
    // In a DHE key exchange of TLS 1.2, the server chooses the finite field. The exchange can take
    // 1.6 s of CPU time. `HandshakeInspector` decrypts only AES-GCM, which each server with TLS 1.3
    // must support (RFC 8446, section 9.1).
    ciphers: `${DEFAULT_CIPHERS.replace(/TLS_CHACHA20_POLY1305_SHA256:?/, "")}:!kDHE`,
    ecdhCurve: keyExchangeGroups,
  } as object);
  return (target, callback) => {
    const host = target.hostname.replace(/^\[(.*)\]$/, "$1");
    if (isIP(host) !== 0 && !addresses.allows(host)) return callback(new AddressNotPublic(), null);
    if (target.protocol !== "https:") {
      return connect(target, (...connected) => {
        if (connected[1]) limitResponse(connected[1]);
        callback(...connected);
      });
    }
    const port = Number(target.port || 443);
    const tcpSocket = connectTcp({
      host,
      port,
      lookup,
      noDelay: true,
      keepAlive: true,
      autoSelectFamilyAttemptTimeout: addressTimeoutMs,
    });
    const records = new LimitedRecords(tcpSocket, beginHandshake());
    // The connector returns the socket, although its type does not state this.
    const tlsSocket = connect({ ...target, httpSocket: records as unknown as Socket }, (...connected) => {
      if (connected[0]) records.destroy();
      else limitTls(tlsSocket, records);
      callback(...connected);
    }) as unknown as TLSSocket;
    tlsSocket.on("keylog", (line: Buffer) => records.addKeyLog(line));
    // Without this listener, the TLS socket can emit "close" before "error", and undici throws.
    records.prependListener("error", (error) => tlsSocket.destroy(error));
    // A server can cause the event "secure" many times. With `once`, Node.js checks the certificate
    // only the first time.
    for (const listener of tlsSocket.listeners("secure") as (() => void)[])
      tlsSocket.off("secure", listener).once("secure", listener);
  };
}

/** Limits what the client accepts on a TLS connection after the handshake. */
function limitTls(tlsSocket: TLSSocket, records: LimitedRecords): void {
  records.endHandshake(tlsSocket);
  limitResponse(tlsSocket);
  // After the handshake, Node.js reports an error of TLS, but does not close the connection.
  tlsSocket.on("error", (error) => tlsSocket.destroy(error));
}
