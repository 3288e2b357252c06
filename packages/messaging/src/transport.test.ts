import { readEnv, type SettingsError } from "@amana/runtime";
import { testEventSettings } from "@amana/testing";
import { describe, expect, test } from "vitest";
import { readTransportOptions } from "./index.ts";

const roles = { emits: ["x.v1"], consumes: ["y.v1"] };
const keys = testEventSettings("x.v1", "y.v1").EVENT_MAC_KEYS;
const read = (source: Record<string, string>) =>
  readEnv((env) => ({ events: readTransportOptions(env, roles) }), { EVENT_MAC_KEYS: keys, ...source }).events;
const problems = (source: Record<string, string>) => {
  try {
    read(source);
  } catch (error) {
    return (error as SettingsError).message;
  }
  return "none";
};
const direct = { EVENTS: "direct", DIRECT_SUBSCRIBERS: "x.v1=http://h:1" };
const kafka = { EVENTS: "kafka", KAFKA_BROKERS: "a:9092, b:9092" };

test("readTransportOptions returns the brokers with EVENTS=kafka, and the subscribers of each topic with EVENTS=direct", () => {
  expect(read(kafka)).toMatchObject({ kind: "kafka", brokers: ["a:9092", "b:9092"], requiresCopies: false });
  expect(read({ EVENTS: "direct", DIRECT_SUBSCRIBERS: "x.v1=http://h:1,z=http://h:1,x.v1=http://h:2" })).toMatchObject({
    kind: "direct",
    subscribers: { "x.v1": ["http://h:1", "http://h:2"], z: ["http://h:1"] },
  });
});

test("readTransportOptions rejects settings without the event transport, the brokers or the subscribers", () => {
  expect(problems({})).toContain("EVENTS is not set");
  expect(problems({ KAFKA_BROKERS: "a:9092" })).toContain("EVENTS is not set");
  expect(problems({ EVENTS: "kafka" })).toContain("KAFKA_BROKERS is not set");
  expect(problems({ EVENTS: "direct" })).toContain("has no subscriber for x.v1");
  expect(problems({ EVENTS: "direct", DIRECT_SUBSCRIBERS: "payments.v1" })).toContain("topic=address pairs");
});

test("readTransportOptions rejects missing, malformed and duplicate MAC keys with an error that contains no key", () => {
  expect(problems({ ...direct, EVENT_MAC_KEYS: testEventSettings("x.v1").EVENT_MAC_KEYS })).toContain("no key for y.v1");
  for (const invalidKeys of ["x.v1=k1:tooShort", "x.v1=k1", "=k1:tooShort", "tooShort"]) {
    expect(problems({ ...direct, EVENT_MAC_KEYS: invalidKeys })).toContain("entry 1 must be topic=id:key");
    expect(problems({ ...direct, EVENT_MAC_KEYS: invalidKeys })).not.toContain("tooShort");
  }
  expect(problems({ ...direct, EVENT_MAC_KEYS: `${keys},${testEventSettings("x.v1").EVENT_MAC_KEYS}` })).toContain("two keys");
  const secondKey = testEventSettings("x.v1").EVENT_MAC_KEYS.replace("=test:", "=next:");
  expect(read({ ...direct, EVENT_MAC_KEYS: `${secondKey},${keys}` }).keys["x.v1"]?.map(({ id }) => id)).toEqual(["next", "test"]);
});

describe("the settings of Kafka in production", () => {
  const production = { ...kafka, NODE_ENV: "production" };
  const login = { KAFKA_SASL_MECHANISM: "scram-sha-512", KAFKA_SASL_USERNAME: "u", KAFKA_SASL_PASSWORD: "p" };

  test("readTransportOptions in production requires TLS and a login for Kafka, and names the settings that waive these safeguards", () => {
    const messages = problems(production);
    expect(messages).toMatch(/KAFKA_TLS must be true in production.*KAFKA_WITHOUT=tls/);
    expect(messages).toMatch(/KAFKA_SASL_MECHANISM.*KAFKA_WITHOUT=login/);
    expect(read({ ...production, KAFKA_TLS: "true", ...login })).toMatchObject({
      ssl: {},
      sasl: { mechanism: "scram-sha-512", username: "u", password: "p" },
      requiresCopies: true,
    });
    const certificate = { KAFKA_TLS: "true", KAFKA_TLS_CA: "ca", KAFKA_TLS_CERTIFICATE: "cert", KAFKA_TLS_KEY: "key" };
    expect(read({ ...production, ...certificate })).toMatchObject({ ssl: { ca: ["ca"], cert: "cert", key: "key" } });
  });

  test("readTransportOptions in production still requires each safeguard that KAFKA_WITHOUT does not list", () => {
    expect(read({ ...production, KAFKA_WITHOUT: "tls,login,copies" })).toMatchObject({ kind: "kafka", requiresCopies: false });
    expect(problems({ ...production, KAFKA_WITHOUT: "tls" })).toContain("KAFKA_WITHOUT=login");
    expect(problems({ ...production, KAFKA_WITHOUT: "everything" })).toContain('not "everything"');
  });

  test("readTransportOptions rejects TLS files without KAFKA_TLS=true, a TLS key without a certificate, and an incomplete login", () => {
    expect(problems({ ...kafka, KAFKA_TLS_CA: "ca" })).toContain("need KAFKA_TLS=true");
    expect(problems({ ...kafka, KAFKA_TLS: "true", KAFKA_TLS_KEY: "key" })).toContain("must be set together");
    expect(problems({ ...kafka, KAFKA_SASL_MECHANISM: "plain" })).toContain("KAFKA_SASL_USERNAME is not set");
    expect(problems({ ...kafka, KAFKA_SASL_MECHANISM: "none" })).toContain("KAFKA_SASL_MECHANISM must be one of");
  });
});
