import type { EnumName } from "@amana/contracts/enum-names";
import type { DeliveryFailure } from "@amana/contracts/webhooks/v1/event_pb";
import { AddressNotPublic } from "../webhook-endpoint/address-guard.ts";

export type FailureCode = EnumName<typeof DeliveryFailure>;

/** Why no answer came: for the programs and for the people of the endpoint's business. */
export interface Failure {
  readonly code: FailureCode;
  readonly detail: string;
}

/** Failure of an attempt that sent nothing, because the signing secret could not be decrypted. */
export const secretUnreadable: Failure = {
  code: "SECRET_UNREADABLE",
  detail: "nothing was sent: Amana could not decrypt the signing secret; replay the delivery later, or rotate the secret now",
};

/** More came than an answer may have. */
export class AnswerTooLong extends Error {}

const noName: Failure = { code: "DNS_ERROR", detail: "the host name does not resolve" };
const noNameNow: Failure = { code: "DNS_ERROR", detail: "the host name does not resolve right now" };
const closed: Failure = { code: "CONNECTION_RESET", detail: "the connection was closed before an answer" };
const lateToConnect: Failure = { code: "TIMEOUT", detail: "timed out while connecting" };
const unreachable: Failure = { code: "CONNECTION_REFUSED", detail: "the address cannot be reached" };

const byCode: Readonly<Record<string, Failure>> = {
  ENOTFOUND: noName,
  EAI_AGAIN: noNameNow,
  ECONNREFUSED: { code: "CONNECTION_REFUSED", detail: "the connection was refused" },
  ECONNRESET: closed,
  EPIPE: closed,
  UND_ERR_SOCKET: closed,
  ETIMEDOUT: lateToConnect,
  UND_ERR_CONNECT_TIMEOUT: lateToConnect,
  EHOSTUNREACH: unreachable,
  ENETUNREACH: unreachable,
};

const namesNothing = new Set(["ENOTFOUND", "ENODATA"]);

/** What to look at, and nothing about our side. */
export function describeFailure(error: Error): Failure {
  if (error instanceof AddressNotPublic) return { code: "ADDRESS_FORBIDDEN", detail: error.message };
  if (error instanceof AnswerTooLong) return { code: "INVALID_RESPONSE", detail: "the answer is too long" };
  const { code = "" } = error as NodeJS.ErrnoException;
  // Of a name server, whose own refusal of a connection is not the endpoint's.
  if (/^query[A-Z]/.test((error as NodeJS.ErrnoException).syscall ?? "")) return namesNothing.has(code) ? noName : noNameNow;
  const known = byCode[code];
  if (known) return known;
  if (/CERT|TLS|SSL|SIGNATURE|ISSUER|CHAIN|EPROTO/.test(code))
    return { code: "TLS_ERROR", detail: `the TLS certificate or connection is not accepted (${code})` };
  if (error.name === "HTTPParserError") return { code: "INVALID_RESPONSE", detail: "the answer is not HTTP" };
  return { code: "CONNECTION_RESET", detail: "the request failed" };
}
