import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdtemp, readFile, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { Kafka as Client, logLevel, Partitioners } from "kafkajs";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { DevEnvError } from "../src/dev-env-error.ts";
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
// On a machine without them this is left out and says so; a build server must have them.
const leftOut = missing !== undefined && !process.env["CI"];
if (leftOut) process.stderr.write(`LEFT OUT: the tests on a real Kafka. ${missing}\n`);

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

async function aKafka(): Promise<Kafka> {
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

/** Reads the topic from its beginning until it has that many messages. */
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

describe.skipIf(leftOut)("Kafka by Java", () => {
  test("messages are kept through a stop and an outage, and no topic is made that nobody created", async () => {
    const kafka = await aKafka();
    await expect(produce(kafka, "misspelt", "one", { retries: 0 })).rejects.toThrow(/does not host this topic-partition/);
    await createTopic(kafka, "payments");
    await produce(kafka, "payments", "one");
    expect(await consume(kafka, "payments", 1)).toEqual(["one"]);
    await kafka.stop();

    const again = await aKafka();
    await produce(again, "payments", "two");
    await again.kill();
    await again.start();
    expect(await consume(again, "payments", 2)).toEqual(["one", "two"]);
  });

  test("three nodes keep three copies of a topic, and one of them may be lost, then another", async () => {
    const nodes = await startKafkaNodes(3, { dir, progress: silentProgress });
    started.push(...nodes);
    const brokers = nodes.map((node) => node.brokers);
    const [first, second] = nodes as [Kafka, Kafka];
    const cluster = { ...first, brokers: brokers.join(",") };
    const admin = clientOf(cluster).admin();
    await admin.connect();
    await admin.createTopics({ topics: [{ topic: "payments", numPartitions: 1, replicationFactor: -1 }] });
    const { topics } = await admin.fetchTopicMetadata({ topics: ["payments"] });
    await admin.disconnect();
    expect(topics[0]?.partitions[0]?.replicas).toHaveLength(3);

    await first.kill();
    await produce(cluster, "payments", "one", { retries: 20 });
    await first.start();
    await second.kill();
    await produce(cluster, "payments", "two", { retries: 20 });
    expect(await consume(cluster, "payments", 2)).toEqual(["one", "two"]);
  });

  test("a broker left behind by a starter that was killed is stopped, and one at work is left alone", async () => {
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
    const refusal = await aKafka().catch((error: unknown) => error);
    expect(refusal).toBeInstanceOf(DevEnvError);
    expect((refusal as DevEnvError).problem).toContain(`already running on ${dir}`);

    process.kill(Number(guard), "SIGKILL");
    starter.kill("SIGKILL");
    await once(starter, "exit");
    expect(readProcess(orphan)?.command).toContain(dir);
    await aKafka();
    expect(readProcess(orphan)?.command ?? "").not.toContain(dir);
  });

  test("without Maven, and without a Kafka fetched before, the refusal names Maven", async () => {
    const bin = await mkdtemp(join(dir, "bin-"));
    const folders = (process.env["PATH"] ?? "").split(delimiter);
    const java = folders.map((folder) => join(folder, "java")).find((program) => existsSync(program));
    if (java !== undefined) await symlink(java, join(bin, "java"));
    vi.stubEnv("PATH", bin);

    const start = startKafka({ dir, cacheDir: join(dir, "cache"), progress: silentProgress });
    await expect(start).rejects.toThrow(/mvn .* does not run: not found[\s\S]*Install Maven/);
  });
});

test("without Java the refusal names Java and how to install it", async () => {
  vi.stubEnv("PATH", dir);
  vi.stubEnv("JAVA_HOME", "");
  const start = startKafka({ dir, progress: silentProgress });
  await expect(start).rejects.toThrow(/java does not run: not found[\s\S]*Install a Java 17/);
});
