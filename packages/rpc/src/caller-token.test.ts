import { generateKeyPairSync } from "node:crypto";
import { ClientService } from "@amana/contracts/clients/v1/client_service_pb";
import { expect, test } from "vitest";
import { type Caller, platformCaller } from "./caller.ts";
import { createCallerSigner, createCallerVerifier, type TrustedKey } from "./caller-token.ts";

const { getClient, getClientStanding } = ClientService.method;
const caller: Caller = { role: "business", businessId: "b1", keyId: "k1", keyPrefix: "sk_test_00000000" };

/** Returns a signer and verifiers with clocks that the test controls. */
function createPair({ id = "k", signsFor = "anyone" as TrustedKey["signsFor"] } = {}) {
  const clock = { signerMs: 1_000_000, verifierMs: 1_000_000 };
  const { privateKey, publicKey } = generateKeyPairSync("ed25519");
  const key: TrustedKey = { id, publicKey, signsFor };
  const verifierOf = (audience: string, keys = [key]) => createCallerVerifier({ audience, keys }, () => clock.verifierMs);
  const signer = createCallerSigner({ id, privateKey }, () => clock.signerMs);
  return { clock, key, signer, verifierOf, verifier: verifierOf("clients") };
}

test.each<Caller>([caller, { role: "admin", keyId: "a1", keyPrefix: "ak_00000000" }, platformCaller])(
  "the caller token verifier returns all fields of the caller in a signed token ($role)",
  (signedCaller) => {
    const { signer, verifier } = createPair();
    const token = signer.sign(signedCaller, "clients");
    expect(verifier.check(token, getClient)).toEqual(signedCaller);
    expect(verifier.check(token, getClient)).toEqual(signedCaller);
  },
);

test("the caller token verifier rejects a token after ten seconds, even if the token is in its cache", () => {
  const { clock, signer, verifier } = createPair();
  const token = signer.sign(caller, "clients");
  clock.verifierMs += 9_999;
  expect(verifier.check(token, getClient)).toEqual(caller);
  clock.verifierMs += 1;
  expect(() => verifier.check(token, getClient)).toThrow("has expired");
});

test("the caller token verifier accepts a token from a clock that is five seconds ahead, and rejects a token from a clock six seconds ahead", () => {
  const { clock, signer, verifier } = createPair();
  clock.signerMs += 5_000;
  expect(verifier.check(signer.sign(caller, "clients"), getClient)).toEqual(caller);
  clock.signerMs += 1_000;
  const earlyToken = signRenewedToken(signer, clock);
  expect(() => verifier.check(earlyToken, getClient)).toThrow("is not valid yet");
});

/** Moves the signer's clock forward, so that the signer creates a new token. Returns this token. */
function signRenewedToken(signer: ReturnType<typeof createCallerSigner>, clock: { signerMs: number }): string {
  clock.signerMs += 5_000;
  return signer.sign(caller, "clients");
}

test("the caller token signer reuses a token for the same caller and service for five seconds, unless the signer's clock is set back", () => {
  const { clock, signer } = createPair();
  const firstToken = signer.sign(caller, "clients");
  clock.signerMs += 4_999;
  expect(signer.sign(caller, "clients")).toBe(firstToken);
  expect(signer.sign(caller, "payments")).not.toBe(firstToken);
  expect(signer.sign({ ...caller, keyId: "k2" }, "clients")).not.toBe(firstToken);
  clock.signerMs += 1;
  const secondToken = signer.sign(caller, "clients");
  expect(secondToken).not.toBe(firstToken);
  clock.signerMs -= 3_600_000;
  expect(signer.sign(caller, "clients")).not.toBe(secondToken);
});

test("the caller token verifier rejects a token that is for another service, changed, truncated or signed with another algorithm", () => {
  const { signer, verifier, verifierOf } = createPair();
  const token = signer.sign(caller, "clients");
  expect(() => verifierOf("payments").check(token, getClient)).toThrow("another service");
  const [header = "", payload = "", signature = ""] = token.split(".");
  const asAdmin = Buffer.from(JSON.stringify({ ...JSON.parse(atob(payload)), role: "admin" })).toString("base64url");
  const unsignedHeader = Buffer.from(JSON.stringify({ alg: "none", kid: "k" })).toString("base64url");
  for (const invalidToken of [
    `${header}.${asAdmin}.${signature}`,
    `${unsignedHeader}.${payload}.`,
    `${header}.${payload}.`,
    `${header}.${payload}`,
    `${token}.x`,
    "x",
    "",
    undefined,
    `${Buffer.from("null").toString("base64url")}.${payload}.${signature}`,
    "x".repeat(100_000),
  ])
    expect(() => verifier.check(invalidToken, getClient)).toThrow("the caller token");
  expect(verifier.check(token, getClient)).toEqual(caller);
});

test("the caller token verifier accepts the tokens of all replicas in each step of a key rotation", () => {
  const [oldPair, newPair] = [createPair(), createPair({ id: "k2" })];
  const [checkBefore, checkDuring, checkAfter] = [[oldPair.key], [oldPair.key, newPair.key], [newPair.key]].map((keys) => {
    const verifier = oldPair.verifierOf("clients", keys);
    return ({ signer }: typeof oldPair) => verifier.check(signer.sign(caller, "clients"), getClient);
  }) as [(pair: typeof oldPair) => Caller, (pair: typeof oldPair) => Caller, (pair: typeof oldPair) => Caller];
  // In each step, replicas of the previous and of the next step accept each other's tokens.
  expect([checkBefore(oldPair), checkDuring(oldPair), checkDuring(newPair), checkAfter(newPair)]).toEqual(Array(4).fill(caller));
  expect(() => checkBefore(newPair)).toThrow("unknown key");
  expect(() => checkAfter(oldPair)).toThrow("unknown key");
});

test("the caller token verifier accepts a token whose signing key is limited to certain methods only for a call of these methods by the platform", () => {
  const { signer, verifier } = createPair({ signsFor: [getClientStanding] });
  expect(verifier.check(signer.sign(platformCaller, "clients"), getClientStanding)).toEqual(platformCaller);
  expect(() => verifier.check(signer.sign(platformCaller, "clients"), getClient)).toThrow("not permitted");
  expect(() => verifier.check(signer.sign(caller, "clients"), getClientStanding)).toThrow("not permitted");
});
