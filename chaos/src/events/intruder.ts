import { randomUUID } from "node:crypto";
import { uuidv7 } from "@amana/runtime";
import { Kafka, logLevel, Partitioners } from "kafkajs";
import type { Random } from "../random.ts";
import type { Report } from "../report.ts";

interface Captured {
  readonly key: Buffer | null;
  readonly value: Buffer | null;
  readonly headers: Record<string, string>;
}

const topic = "payments.v1";
const keptMax = 500;

/** Somebody who reaches the broker and has no key: listens, invents, alters and replays. */
export function startIntruder(brokers: readonly string[], random: Random, report: Report) {
  const kafka = new Kafka({
    clientId: "intruder",
    brokers: [...brokers],
    logLevel: logLevel.NOTHING,
    retry: { initialRetryTime: 100, retries: 2 },
  });
  const captured: Captured[] = [];
  const forgedIds = new Set<string>();

  const listen = async () => {
    const consumer = kafka.consumer({ groupId: `intruder-${randomUUID()}` });
    await consumer.connect();
    await consumer.subscribe({ topic, fromBeginning: true });
    await consumer.run({
      eachMessage: async ({ message: { key, value, headers } }) => {
        const texts = Object.fromEntries(Object.entries(headers ?? {}).map(([name, text]) => [name, String(text)]));
        if (texts["amana-mac"] && !forgedIds.has(texts["ce_id"] ?? "") && captured.length < keptMax) {
          captured.push({ key, value, headers: texts });
        }
      },
    });
    return consumer;
  };
  // The topic is there once something was published to it.
  let listening: Awaited<ReturnType<typeof listen>> | undefined;

  const send = async (what: string, { key, value, headers }: Captured): Promise<boolean> => {
    const producer = kafka.producer({ createPartitioner: Partitioners.DefaultPartitioner });
    try {
      await producer.connect();
      await producer.send({ topic, acks: -1, messages: [{ key, value, headers }] });
      report.count(what);
      return true;
    } catch {
      // There is no broker right now.
      return false;
    } finally {
      await producer.disconnect().catch(() => {});
    }
  };

  return {
    /** Ids that only forged messages have. */
    forgedIds: forgedIds as ReadonlySet<string>,
    /** Answers whether a broker took something that was made of what had been heard. */
    async act(): Promise<boolean> {
      listening ??= await listen().catch(() => undefined);
      const good = captured.length > 0 ? random.pick(captured) : undefined;
      const ways = good ? ["invent", "invent with a MAC", "other id", "other payload", "replay"] : ["invent"];
      const way = random.pick(ways);
      if (way === "replay" && good) return await send("messages replayed", good);
      if (way === "other payload" && good) {
        const value = Buffer.concat([good.value ?? Buffer.alloc(0), Buffer.from([0])]);
        return await send("messages forged", { ...good, value });
      }
      const id = uuidv7();
      forgedIds.add(id);
      if (way === "other id" && good) return await send("messages forged", { ...good, headers: { ...good.headers, ce_id: id } });
      const mac = `dev:${Buffer.alloc(32, random.integer(0, 255)).toString("base64url")}`;
      const headers = { ce_id: id, ce_type: "payments.v1.PaymentRefunded", ...(way === "invent" ? {} : { "amana-mac": mac }) };
      const value = good?.value ?? Buffer.from("invented");
      return (await send("messages forged", { key: Buffer.from(id), value, headers })) && good !== undefined;
    },
    /** The fewest copies that a partition has. */
    async copies(): Promise<number> {
      const admin = kafka.admin();
      await admin.connect();
      try {
        const { topics } = await admin.fetchTopicMetadata({ topics: [topic] });
        return Math.min(...topics.flatMap(({ partitions }) => partitions.map(({ replicas }) => replicas.length)));
      } finally {
        await admin.disconnect();
      }
    },
    async [Symbol.asyncDispose]() {
      await listening?.disconnect().catch(() => {});
    },
  };
}
