import { expect, test } from "vitest";
import { AddressNotPublic } from "../webhook-endpoint/address-guard.ts";
import { AnswerTooLong, describeFailure } from "./describe-failure.ts";

const fault = (code: string, more: object = {}) => Object.assign(new Error("no"), { code, ...more });

test.each([
  ["TIMEOUT", fault("ETIMEDOUT")],
  ["TIMEOUT", fault("UND_ERR_CONNECT_TIMEOUT")],
  ["DNS_ERROR", fault("EAI_AGAIN")],
  // Of a name server that refuses connections, not of the endpoint.
  ["DNS_ERROR", fault("ECONNREFUSED", { syscall: "queryA" })],
  ["CONNECTION_REFUSED", fault("ECONNREFUSED", { syscall: "connect" })],
  ["CONNECTION_REFUSED", fault("ENETUNREACH")],
  ["CONNECTION_RESET", fault("EPIPE")],
  ["TLS_ERROR", fault("CERT_HAS_EXPIRED")],
  ["TLS_ERROR", fault("ERR_TLS_CERT_ALTNAME_INVALID")],
  ["ADDRESS_FORBIDDEN", new AddressNotPublic()],
  ["INVALID_RESPONSE", new AnswerTooLong()],
  // Whatever else happens, no answer came over the connection.
  ["CONNECTION_RESET", fault("ESOMETHING")],
])("%s is the code of %s", (code, error) => {
  expect(describeFailure(error).code).toBe(code);
});
