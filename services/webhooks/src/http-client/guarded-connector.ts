import { constants } from "node:crypto";
import { connect as connectTcp, isIP, type LookupFunction, type Socket } from "node:net";
import { DEFAULT_CIPHERS, type TLSSocket } from "node:tls";
import { setBounded } from "@amana/runtime";
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

/** CPU time of a TLS handshake up to which its slot for connecting becomes free at once. */
const freeCpuMs = 5;
/**
 * Time for which the slot stays occupied, as a multiple of the CPU time above `freeCpuMs`. With
 * this factor, handshakes of 50 ms in all 16 slots of a business use less than a fifth of the CPU
 * time.
 */
const holdFactor = 100;
const hostsMax = 1_000;

/**
 * CPU time of costly TLS handshakes by host. After a costly handshake, its slot for connecting
 * stays occupied, so that the slots of a business also limit its share of the CPU time.
 */
export class HandshakeCosts {
  readonly #excessMs = new Map<string, number>();

  /** Returns a function that adds CPU time of one handshake with a host, in milliseconds. */
  meter(host: string): (cpuMs: number) => void {
    let freeMs = freeCpuMs;
    return (cpuMs) => {
      const excessMs = Math.max(0, cpuMs - freeMs);
      freeMs = Math.max(0, freeMs - cpuMs);
      if (excessMs > 0) setBounded(this.#excessMs, host, (this.#excessMs.get(host) ?? 0) + excessMs, hostsMax);
    };
  }

  /**
   * Returns the time for which a slot for the host must stay occupied. Deletes the CPU time of the
   * host, so that only one slot stays occupied for it.
   */
  takeHoldMs(host: string): number {
    const excessMs = this.#excessMs.get(host) ?? 0;
    this.#excessMs.delete(host);
    return excessMs * holdFactor;
  }
}

/**
 * Creates a connector that rejects forbidden addresses and limits what a receiver sends. For a host
 * name, it checks the addresses when the socket resolves the name. For an IP address, it checks the
 * address before connecting, because the socket resolves nothing. The connector uses only HTTP/1.1,
 * so that an aborted connection affects no other request. It refuses TLS renegotiation, which would
 * repeat the cost of the handshake after the request has released its slot for connecting. It adds
 * the CPU time of each TLS handshake to `costs`.
 */
export function guardedConnector(addresses: AddressGuard, timeoutMs: number, costs: HandshakeCosts): buildConnector.connector {
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
    const tcpSocket = connectTcp({ host, port, lookup, noDelay: true, keepAlive: true });
    const records = new LimitedRecords(tcpSocket, costs.meter(target.host ?? ""));
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
