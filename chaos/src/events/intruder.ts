import { randomUUID } from "node:crypto";
import { uuidv7 } from "@amana/runtime";
import { Kafka, logLevel, Partitioners } from "kafkajs";
import type { Random } from "../random.ts";
import type { Report } from "../report.ts";

interface CapturedMessage {
  readonly key: Buffer | null;
  readonly value: Buffer | null;
  readonly headers: Record<string, string>;
}

const topic = "payments.v1";
const capturedMax = 500;

/**
 * Starts an attacker who can read and write Kafka messages but has no keys. The attacker sends
 * invented, changed and replayed messages.
 */
export function startIntruder(brokers: readonly string[], random: Random, report: Report) {
  const kafka = new Kafka({
    clientId: "intruder",
    brokers: [...brokers],
    logLevel: logLevel.NOTHING,
    retry: { initialRetryTime: 100, retries: 2 },
  });
  const captured: CapturedMessage[] = [];
  const forgedIds = new Set<string>();

  const listen = async () => {
    const listener = kafka.consumer({ groupId: `intruder-${randomUUID()}` });
    await listener.connect();
    await listener.subscribe({ topic, fromBeginning: true });
    await listener.run({
      eachMessage: async ({ message: { key, value, headers } }) => {
        const headerTexts = Object.fromEntries(Object.entries(headers ?? {}).map(([name, text]) => [name, String(text)]));
        if (headerTexts["amana-mac"] && !forgedIds.has(headerTexts["ce_id"] ?? "") && captured.length < capturedMax) {
          captured.push({ key, value, headers: headerTexts });
        }
      },
    });
    return listener;
  };
  // Set by the first call of `send`, because the topic exists only after its first message.
  let consumer: Awaited<ReturnType<typeof listen>> | undefined;

  const sendMessage = async (counter: string, { key, value, headers }: CapturedMessage): Promise<boolean> => {
    const producer = kafka.producer({ createPartitioner: Partitioners.DefaultPartitioner });
    try {
      await producer.connect();
      await producer.send({ topic, acks: -1, messages: [{ key, value, headers }] });
      report.count(counter);
      return true;
    } catch {
      // No broker is available at the moment.
      return false;
    } finally {
      await producer.disconnect().catch(() => {});
    }
  };

  return {
    /** Ids that the intruder invented. No genuine message has one of them. */
    forgedIds: forgedIds as ReadonlySet<string>,
    /**
     * Sends a random message. Returns true if the message is based on a captured message and a
     * broker accepted it.
     */
    async send(): Promise<boolean> {
      consumer ??= await listen().catch(() => undefined);
      const genuine = captured.length > 0 ? random.pick(captured) : undefined;
      const attacks = genuine ? ["invent", "invent with a MAC", "other id", "other payload", "replay"] : ["invent"];
      const attack = random.pick(attacks);
      if (attack === "replay" && genuine) return await sendMessage("messages replayed", genuine);
      if (attack === "other payload" && genuine) {
        const value = Buffer.concat([genuine.value ?? Buffer.alloc(0), Buffer.from([0])]);
        return await sendMessage("messages forged", { ...genuine, value });
      }
      const id = uuidv7();
      forgedIds.add(id);
      if (attack === "other id" && genuine)
        return await sendMessage("messages forged", { ...genuine, headers: { ...genuine.headers, ce_id: id } });
      const mac = `dev:${Buffer.alloc(32, random.integer(0, 255)).toString("base64url")}`;
      const headers = { ce_id: id, ce_type: "payments.v1.PaymentRefunded", ...(attack === "invent" ? {} : { "amana-mac": mac }) };
      const value = genuine?.value ?? Buffer.from("invented");
      return (await sendMessage("messages forged", { key: Buffer.from(id), value, headers })) && genuine !== undefined;
    },
    /** Returns the number of replicas of the partition with the fewest replicas. */
    async countReplicasMin(): Promise<number> {
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
      await consumer?.disconnect().catch(() => {});
    },
  };
}
