import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdtemp, readFile, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { Kafka as Client, logLevel, Partitioners } from "kafkajs";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { DevEnvError } from "../src/dev-env-error.ts";
import { waitUntil } from "../src/eventually.ts";
import { findJava, requireMaven } from "../src/kafka/java.ts";
import { startKafka } from "../src/kafka/java-kafka.ts";
import type { Kafka } from "../src/kafka/kafka.ts";
import { startKafkaNodes } from "../src/kafka/kafka-nodes.ts";
import { silentProgress } from "../src/progress.ts";
import { readProcess } from "../src/running-process.ts";

const missing = await findJava()
  .then(requireMaven)
  .then(
    () => undefined,
    (error: DevEnvError) => error.problem,
  );
// Without Java and Maven these tests are skipped with a message. CI must have both.
const skipsKafka = missing !== undefined && !process.env["CI"];
if (skipsKafka) process.stderr.write(`SKIPPED: tests with a real Kafka. ${missing}\n`);

let dir: string;
const started: Kafka[] = [];

beforeEach(async () => {
  // In the C locale, Java drops the non-ASCII characters of a path.
  dir = await mkdtemp(join(tmpdir(), "amana kafka é שלום 😀 "));
  vi.stubEnv("LC_ALL", "C");
});

afterEach(async () => {
  vi.unstubAllEnvs();
  await Promise.all(started.splice(0).map((kafka) => kafka.kill()));
  await rm(dir, { recursive: true, force: true });
});

async function startTestKafka(): Promise<Kafka> {
  const kafka = await startKafka({ dir, progress: silentProgress });
  started.push(kafka);
  return kafka;
}

function clientOf(kafka: Kafka): Client {
  return new Client({ brokers: kafka.brokers.split(","), logLevel: logLevel.NOTHING });
}

async function createTopic(kafka: Kafka, topic: string) {
  const admin = clientOf(kafka).admin();
  await admin.connect();
  await admin.createTopics({ topics: [{ topic, numPartitions: 1, replicationFactor: 1 }] });
  await admin.disconnect();
}

async function produce(kafka: Kafka, topic: string, value: string, retry: { retries?: number } = {}) {
  const producer = clientOf(kafka).producer({ createPartitioner: Partitioners.DefaultPartitioner, retry });
  await producer.connect();
  try {
    await producer.send({ topic, messages: [{ value }] });
  } finally {
    await producer.disconnect();
  }
}

/** Reads `count` messages from the start of the topic. */
async function consume(kafka: Kafka, topic: string, count: number): Promise<string[]> {
  const consumer = clientOf(kafka).consumer({ groupId: `test-${count}`, sessionTimeout: 6_000 });
  const values: string[] = [];
  await consumer.connect();
  await consumer.subscribe({ topic, fromBeginning: true });
  await new Promise<void>((resolve) => {
    consumer.run({
      eachMessage: async ({ message }) => {
        values.push(String(message.value));
        if (values.length === count) resolve();
      },
    });
  });
  await consumer.disconnect();
  return values;
}

describe.skipIf(skipsKafka)("Kafka that Java runs without Docker", () => {
  test("the broker of startKafka keeps its messages after a stop or a kill, and does not create a topic automatically", async () => {
    const kafka = await startTestKafka();
    await expect(produce(kafka, "misspelt", "one", { retries: 0 })).rejects.toThrow(/does not host this topic-partition/);
    await createTopic(kafka, "payments");
    await produce(kafka, "payments", "one");
    expect(await consume(kafka, "payments", 1)).toEqual(["one"]);
    await kafka.stop();

    const restarted = await startTestKafka();
    await produce(restarted, "payments", "two");
    await restarted.kill();
    await restarted.start();
    expect(await consume(restarted, "payments", 2)).toEqual(["one", "two"]);
  });

  test("startKafkaNodes starts three nodes that store three copies and accept messages while one node is down", async () => {
    const nodes = await startKafkaNodes(3, { dir, progress: silentProgress });
    started.push(...nodes);
    const brokers = nodes.map((node) => node.brokers);
    const [firstNode, secondNode] = nodes as [Kafka, Kafka];
    const cluster = { ...firstNode, brokers: brokers.join(",") };
    const admin = clientOf(cluster).admin();
    await admin.connect();
    const topic = "payments";
    await admin.createTopics({ topics: [{ topic, numPartitions: 1, replicationFactor: -1 }], waitForLeaders: false });
    let copies: number | undefined;
    // A node rejects requests for the topic until it has read the topic from the controller.
    await waitUntil(async () => {
      const metadata = await admin.fetchTopicMetadata({ topics: [topic] }).catch(() => undefined);
      copies = metadata?.topics[0]?.partitions[0]?.replicas.length;
      return copies !== undefined;
    }, 60_000);
    await admin.disconnect();
    expect(copies).toBe(3);

    await firstNode.kill();
    await produce(cluster, "payments", "one", { retries: 20 });
    await firstNode.start();
    await secondNode.kill();
    await produce(cluster, "payments", "two", { retries: 20 });
    expect(await consume(cluster, "payments", 2)).toEqual(["one", "two"]);
  });

  test("startKafka stops a broker that a killed run left, and throws if the run that started the broker still exists", async () => {
    const script = `
      import { startKafka } from ${JSON.stringify(new URL("../src/kafka/java-kafka.ts", import.meta.url).href)};
      import { guardPid } from ${JSON.stringify(new URL("../src/end-with-parent.ts", import.meta.url).href)};
      import { silentProgress } from ${JSON.stringify(new URL("../src/progress.ts", import.meta.url).href)};
      await startKafka({ dir: ${JSON.stringify(dir)}, progress: silentProgress });
      process.stdout.write(String(guardPid()));`;
    const starter = spawn(process.execPath, ["--input-type=module", "-e", script], {
      stdio: ["ignore", "pipe", "inherit"],
      timeout: 60_000,
      killSignal: "SIGKILL",
    });
    const [guard] = await once(starter.stdout, "data");
    const orphan = Number(await readFile(join(dir, "kafka.pid"), "utf8"));
    const failure = await startTestKafka().catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(DevEnvError);
    expect((failure as DevEnvError).problem).toContain(`already running on ${dir}`);

    process.kill(Number(guard), "SIGKILL");
    starter.kill("SIGKILL");
    await once(starter, "exit");
    expect(readProcess(orphan)?.command).toContain(dir);
    await startTestKafka();
    expect(readProcess(orphan)?.command ?? "").not.toContain(dir);
  });

  test("startKafka throws an error that names Maven when Maven and the cached jar files are missing", async () => {
    const bin = await mkdtemp(join(dir, "bin-"));
    const folders = (process.env["PATH"] ?? "").split(delimiter);
    const java = folders.map((folder) => join(folder, "java")).find((program) => existsSync(program));
    if (java !== undefined) await symlink(java, join(bin, "java"));
    vi.stubEnv("PATH", bin);

    const start = startKafka({ dir, cacheDir: join(dir, "cache"), progress: silentProgress });
    await expect(start).rejects.toThrow(/mvn .* cannot be run: not found[\s\S]*Install Maven/);
  });
});

test("startKafka throws an error that explains how to install Java when Java is missing", async () => {
  vi.stubEnv("PATH", dir);
  vi.stubEnv("JAVA_HOME", "");
  const start = startKafka({ dir, progress: silentProgress });
  await expect(start).rejects.toThrow(/java cannot be run: not found[\s\S]*Install a Java 17/);
});
