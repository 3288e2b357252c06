/** Runs a relay as a process. Prints a JSON line for each published message. */
import { runProcess } from "@amana/runtime";
import { startRelay, type Transport } from "../src/index.ts";
import { createMessageKeys } from "../src/message-keys.ts";
import { topic } from "./database.ts";

const transport: Transport = {
  async publish(_topic, messages) {
    const lines = messages.map((message) => `${JSON.stringify({ id: message.headers["ce_id"] })}\n`);
    await new Promise((resolve) => process.stdout.write(lines.join(""), resolve));
  },
  async subscribe() {},
  services: [],
  keys: createMessageKeys({}),
  async [Symbol.asyncDispose]() {},
};

await runProcess(
  "relay",
  () => ({ logLevel: "silent" as const }),
  async (_config, logger) =>
    startRelay({ databaseUrl: process.env["DATABASE_URL"] as string, topics: [topic], transport, logger }),
);
