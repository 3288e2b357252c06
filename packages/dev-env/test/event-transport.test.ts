import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { DevEnvError } from "../src/dev-env-error.ts";
import { type EventChoice, startEventTransport } from "../src/event-transport.ts";
import { freePort } from "../src/free-port.ts";
import { requireDockerEngine } from "../src/kafka/docker-kafka.ts";
import { findJava, requireMaven } from "../src/kafka/java.ts";
import { silentProgress } from "../src/progress.ts";

const succeeds = (check: Promise<unknown>) =>
  check.then(
    () => true,
    () => false,
  );
const canStartKafka = (await succeeds(requireDockerEngine())) || (await succeeds(findJava().then(requireMaven)));

let dir: string;

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), "amana-events-"));
});

afterEach(async () => {
  vi.unstubAllEnvs();
  await rm(dir, { recursive: true, force: true });
});

const startTransport = (choice: EventChoice, brokers?: string) =>
  startEventTransport({ choice, brokers, dir, progress: silentProgress });

async function failureOf(start: Promise<unknown>): Promise<DevEnvError> {
  const error = await start.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(DevEnvError);
  return error as DevEnvError;
}

describe("startEventTransport with given Kafka brokers", () => {
  test.each(["auto", "kafka"] as const)(
    "startEventTransport with `%s` uses the given Kafka brokers, and does not stop them at the end",
    async (choice) => {
      const broker = createServer((socket) => socket.end()).listen(0, "127.0.0.1");
      await once(broker, "listening");
      const brokers = `127.0.0.1:${(broker.address() as { port: number }).port}`;

      const events = await startTransport(choice, brokers);
      expect(events).toMatchObject({ mode: "kafka", brokers, how: `Kafka at ${brokers}, because KAFKA_BROKERS is set` });
      await events.stop();
      expect(broker.listening).toBe(true);
      await new Promise((resolve) => broker.close(resolve));
    },
  );

  test("startEventTransport with `auto` throws when no server listens at the given broker addresses", async () => {
    const error = await failureOf(startTransport("auto", `127.0.0.1:${await freePort()}`));
    expect(error.problem).toContain("no server accepts connections there");
  });

  test("startEventTransport with `direct` uses direct calls even if Kafka brokers are given", async () => {
    const events = await startTransport("direct", "127.0.0.1:1");
    expect(events.mode).toBe("direct");
    expect(events.how).toContain("KAFKA_BROKERS is not used");
  });
});

describe("startEventTransport on a machine without Docker, Java and Maven", () => {
  beforeEach(() => {
    vi.stubEnv("PATH", dir);
    vi.stubEnv("JAVA_HOME", "");
  });

  test("startEventTransport with `auto` uses direct calls if Kafka cannot start, and returns the reason in one line", async () => {
    const events = await startTransport("auto");
    expect(events.mode).toBe("direct");
    expect(events.how).toMatch(/^direct .*no Docker engine: docker .* not found; no Java with Maven: java .* not found$/);
  });

  test("startEventTransport with `kafka` throws an error that lists each failed way to start Kafka, with its next step", async () => {
    const error = await failureOf(startTransport("kafka"));
    expect(error.problem).toMatch(/Docker engine: .*not found\n.*Java with Maven: .*not found/);
    expect(error.nextStep).toMatch(/Install Docker[\s\S]*Install a Java 17[\s\S]*KAFKA_BROKERS/);
  });

  test("startEventTransport with `docker` throws an error about Docker only, not about Java, when Docker is missing", async () => {
    const error = await failureOf(startTransport("docker"));
    expect(error.message).toContain("Docker engine");
    expect(error.message).not.toContain("Java");
  });
});

test.runIf(canStartKafka || process.env["CI"])(
  "startEventTransport with `auto` starts Kafka if Docker, or Java with Maven, is available",
  async () => {
    const events = await startTransport("auto");
    expect(events.mode).toBe("kafka");
    await events.stop();
  },
);
