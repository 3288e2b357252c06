import { generateKeyPairSync } from "node:crypto";
import { ClientService } from "@amana/contracts/clients/v1/client_service_pb";
import { expect, test } from "vitest";
import { type Caller, platformCaller } from "./caller.ts";
import { createCallerSigner, createCallerVerifier, type TrustedKey } from "./caller-token.ts";

const { getClient, getClientStanding } = ClientService.method;
const caller: Caller = { role: "business", businessId: "b1", keyId: "k1", keyPrefix: "sk_test_00000000" };

/** A signer and a verifier whose clocks are in the test's hands. */
function aPair({ id = "k", signsFor = "anyone" as TrustedKey["signsFor"] } = {}) {
  const clock = { signerMs: 1_000_000, verifierMs: 1_000_000 };
  const { privateKey, publicKey } = generateKeyPairSync("ed25519");
  const key: TrustedKey = { id, publicKey, signsFor };
  const verifierOf = (audience: string, keys = [key]) => createCallerVerifier({ audience, keys }, () => clock.verifierMs);
  const signer = createCallerSigner({ id, privateKey }, () => clock.signerMs);
  return { clock, key, signer, verifierOf, verifier: verifierOf("clients") };
}

test.each<Caller>([caller, { role: "admin", keyId: "a1", keyPrefix: "ak_00000000" }, platformCaller])(
  "a token says who calls, whole ($role)",
  (who) => {
    const { signer, verifier } = aPair();
    const token = signer.sign(who, "clients");
    expect(verifier.check(token, getClient)).toEqual(who);
    expect(verifier.check(token, getClient)).toEqual(who);
  },
);

test("a token is good for ten seconds, also where it is remembered", () => {
  const { clock, signer, verifier } = aPair();
  const token = signer.sign(caller, "clients");
  clock.verifierMs += 9_999;
  expect(verifier.check(token, getClient)).toEqual(caller);
  clock.verifierMs += 1;
  expect(() => verifier.check(token, getClient)).toThrow("too old");
});

test("the clocks of two hosts may differ by five seconds", () => {
  const { clock, signer, verifier } = aPair();
  clock.signerMs += 5_000;
  expect(verifier.check(signer.sign(caller, "clients"), getClient)).toEqual(caller);
  clock.signerMs += 1_000;
  const fromTheFuture = createAgain(signer, clock);
  expect(() => verifier.check(fromTheFuture, getClient)).toThrow("from the future");
});

/** Past the age at which a new one is made. */
function createAgain(signer: ReturnType<typeof createCallerSigner>, clock: { signerMs: number }): string {
  clock.signerMs += 5_000;
  return signer.sign(caller, "clients");
}

test("one token serves a caller for five seconds, for one service; then, or when the clock is put back, there is a new one", () => {
  const { clock, signer } = aPair();
  const first = signer.sign(caller, "clients");
  clock.signerMs += 4_999;
  expect(signer.sign(caller, "clients")).toBe(first);
  expect(signer.sign(caller, "payments")).not.toBe(first);
  expect(signer.sign({ ...caller, keyId: "k2" }, "clients")).not.toBe(first);
  clock.signerMs += 1;
  const second = signer.sign(caller, "clients");
  expect(second).not.toBe(first);
  clock.signerMs -= 3_600_000;
  expect(signer.sign(caller, "clients")).not.toBe(second);
});

test("a token is refused at every other service, altered, cut, or with another algorithm", () => {
  const { signer, verifier, verifierOf } = aPair();
  const token = signer.sign(caller, "clients");
  expect(() => verifierOf("payments").check(token, getClient)).toThrow("another service");
  const [header = "", payload = "", signature = ""] = token.split(".");
  const asAdmin = Buffer.from(JSON.stringify({ ...JSON.parse(atob(payload)), role: "admin" })).toString("base64url");
  const none = Buffer.from(JSON.stringify({ alg: "none", kid: "k" })).toString("base64url");
  for (const bad of [
    `${header}.${asAdmin}.${signature}`,
    `${none}.${payload}.`,
    `${header}.${payload}.`,
    `${header}.${payload}`,
    `${token}.x`,
    "x",
    "",
    undefined,
    `${Buffer.from("null").toString("base64url")}.${payload}.${signature}`,
    "x".repeat(100_000),
  ])
    expect(() => verifier.check(bad, getClient)).toThrow("the caller's token");
  expect(verifier.check(token, getClient)).toEqual(caller);
});

test("a pair is replaced without a refused call: services get the new half, callers use theirs, the old one is taken away", () => {
  const [old, fresh] = [aPair(), aPair({ id: "k2" })];
  const [before, meanwhile, after] = [[old.key], [old.key, fresh.key], [fresh.key]].map((keys) => {
    const verifier = old.verifierOf("clients", keys);
    return ({ signer }: typeof old) => verifier.check(signer.sign(caller, "clients"), getClient);
  }) as [(pair: typeof old) => Caller, (pair: typeof old) => Caller, (pair: typeof old) => Caller];
  // Each step leaves both replicas of the step before and of the next one understood.
  expect([before(old), meanwhile(old), meanwhile(fresh), after(fresh)]).toEqual(Array(4).fill(caller));
  expect(() => before(fresh)).toThrow("not known here");
  expect(() => after(old)).toThrow("not known here");
});

test("a key for one question vouches for the platform there, and for nobody and nothing else", () => {
  const { signer, verifier } = aPair({ signsFor: [getClientStanding] });
  expect(verifier.check(signer.sign(platformCaller, "clients"), getClientStanding)).toEqual(platformCaller);
  expect(() => verifier.check(signer.sign(platformCaller, "clients"), getClient)).toThrow("may not vouch");
  expect(() => verifier.check(signer.sign(caller, "clients"), getClientStanding)).toThrow("may not vouch");
});
