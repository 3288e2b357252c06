import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "@amana/dev-env/free-port";
import { startKafka } from "@amana/dev-env/kafka/java-kafka";
import type { Kafka } from "@amana/dev-env/kafka/kafka";
import { silentProgress } from "@amana/dev-env/progress";
import { createSelfSignedCertificate } from "@amana/dev-env/self-signed-certificate";
import { createLogger, readEnv } from "@amana/runtime";
import { eventually, testEventSettings } from "@amana/testing";
import { afterAll, describe, expect, onTestFinished, test } from "vitest";
import { createTransport, readTransportOptions } from "../src/index.ts";
import { aMessage } from "./memory-transport.ts";

const logger = createLogger("test", process.env["TEST_LOG_LEVEL"] ?? "silent");
const dir = await mkdtemp(join(tmpdir(), "amana-kafka-"));
const [certFile, password] = [join(dir, "cert.pem"), "a password"];
let missing = "";
let kafka: Kafka;
let secure = "";
try {
  const { keyFile } = await createSelfSignedCertificate(dir);
  const port = await freePort();
  secure = `127.0.0.1:${port}`;
  const properties = {
    listeners: `SECURE://${secure}`,
    "advertised.listeners": `SECURE://${secure}`,
    "listener.security.protocol.map": "SECURE:SASL_SSL",
    "ssl.keystore.type": "PEM",
    "ssl.keystore.certificate.chain": await readFile(certFile, "utf8"),
    "ssl.keystore.key": await readFile(keyFile, "utf8"),
    "listener.name.secure.sasl.enabled.mechanisms": "PLAIN",
    "listener.name.secure.plain.sasl.jaas.config": `org.apache.kafka.common.security.plain.PlainLoginModule required user_amana="${password}";`,
    // Kafka requires this setting if there are several listeners.
    "inter.broker.listener.name": "PLAINTEXT",
  };
  kafka = await startKafka({ dir: join(dir, "kafka"), progress: silentProgress, properties });
} catch (error) {
  if (process.env["CI"]) throw error;
  missing = String(error);
  process.stderr.write(`\nSKIPPED: tests with a real Kafka and TLS, which CI requires. ${missing}\n\n`);
}
afterAll(async () => {
  await kafka?.stop();
  await rm(dir, { recursive: true, force: true });
});

const topic = "safe.v1";
/** Creates a transport from environment settings, with NODE_ENV=production by default. */
const connect = async (settings: Record<string, string>) => {
  const source = { ...testEventSettings(topic), NODE_ENV: "production", EVENTS: "kafka", ...settings };
  const { events } = readEnv((env) => ({ events: readTransportOptions(env, { emits: [topic], consumes: [topic] }) }), source);
  const transport = await createTransport(events, { clientId: "test", logger });
  onTestFinished(() => transport[Symbol.asyncDispose]());
  return transport;
};
const login = { KAFKA_SASL_MECHANISM: "plain", KAFKA_SASL_USERNAME: "amana", KAFKA_SASL_PASSWORD: password };
const tls = { KAFKA_TLS: "true", KAFKA_TLS_CA_FILE: certFile };

describe.skipIf(missing !== "")("the Kafka transport in production", () => {
  test("createTransport throws with a next step when a single broker cannot create a topic with three replicas", async () => {
    const starting = connect({ KAFKA_BROKERS: kafka.brokers, KAFKA_WITHOUT: "tls,login" });
    await expect(starting).rejects.toThrow(/cannot have 3 replicas.*Run at least 3 brokers.*KAFKA_WITHOUT=copies/);
  });

  test("the Kafka transport delivers events over TLS with a login", async () => {
    const transport = await connect({ KAFKA_BROKERS: secure, KAFKA_WITHOUT: "copies", ...tls, ...login });
    const received: string[] = [];
    await transport.subscribe(topic, "safe", async (messages) => {
      for (const { payload } of messages) received.push(Buffer.from(payload).toString());
    });
    await transport.publish(topic, [aMessage("over TLS")]);
    await eventually(() => expect(received).toContain("over TLS"));
  });

  test("createTransport throws an error that names the setting KAFKA_WITHOUT if a topic has only one replica", async () => {
    const starting = connect({ KAFKA_BROKERS: secure, ...tls, ...login });
    await expect(starting).rejects.toThrow(/safe\.v1 has 1 replica and needs 3.*kafka-reassign-partitions.*KAFKA_WITHOUT=copies/);
  });

  test("`publish` of the Kafka transport throws with a wrong password, an unknown certificate authority or no TLS", async () => {
    const invalidSettings = [
      { ...tls, ...login, KAFKA_SASL_PASSWORD: "wrong" },
      { KAFKA_TLS: "true", ...login },
      { KAFKA_WITHOUT: "copies,tls", ...login },
    ];
    for (const settings of invalidSettings) {
      const transport = await connect({ KAFKA_BROKERS: secure, KAFKA_WITHOUT: "copies", ...settings });
      await expect(transport.publish(topic, [aMessage("1")])).rejects.toThrow();
    }
  });

  test("createTransport succeeds while Kafka is unreachable", async () => {
    await connect({ KAFKA_BROKERS: "127.0.0.1:1", ...tls, ...login });
  });
});
