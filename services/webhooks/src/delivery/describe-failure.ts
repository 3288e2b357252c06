import { AddressNotPublic } from "../webhook-endpoint/address-guard.ts";

const byCode: Readonly<Record<string, string>> = {
  ENOTFOUND: "the host name does not resolve",
  EAI_AGAIN: "the host name does not resolve right now",
  ECONNREFUSED: "the connection was refused",
  ECONNRESET: "the connection was closed before an answer",
  EPIPE: "the connection was closed before an answer",
  UND_ERR_SOCKET: "the connection was closed before an answer",
  ETIMEDOUT: "timed out while connecting",
  UND_ERR_CONNECT_TIMEOUT: "timed out while connecting",
  EHOSTUNREACH: "the address cannot be reached",
  ENETUNREACH: "the address cannot be reached",
  UND_ERR_HEADERS_OVERFLOW: "the answer's headers are too long",
};

const namesNothing = new Set(["ENOTFOUND", "ENODATA"]);

/** Why no answer came, for the business that owns the endpoint: what to look at, and nothing about our side. */
export function describeFailure(error: Error): string {
  if (error instanceof AddressNotPublic) return error.message;
  const { code = "" } = error as NodeJS.ErrnoException;
  // Of a name server, whose own refusal of a connection is not the endpoint's.
  if (/^query[A-Z]/.test((error as NodeJS.ErrnoException).syscall ?? "")) {
    return namesNothing.has(code) ? "the host name does not resolve" : "the host name does not resolve right now";
  }
  const known = byCode[code];
  if (known) return known;
  if (/CERT|TLS|SSL|SIGNATURE|ISSUER|CHAIN|EPROTO/.test(code))
    return `the TLS certificate or connection is not accepted (${code})`;
  if (error.name === "HTTPParserError") return "the answer is not HTTP";
  return "the request failed";
}
