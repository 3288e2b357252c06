import { readFileSync, writeFileSync } from "node:fs";
import { createRpcChannel } from "@amana/rpc";
import { createLogger } from "@amana/runtime";
import { createApp } from "./app.ts";
import { createGateway } from "./gateway.ts";

/** Writes docs/api/openapi.json. With --check, fails if the existing file is not up to date. */
const target = new URL("../../../docs/api/openapi.json", import.meta.url);

// Channels connect at their first call, so no server is required.
const unusedChannel = createRpcChannel({ urls: ["http://127.0.0.1:1"], audience: "none" });
const channels = {
  identity: unusedChannel,
  kyc: unusedChannel,
  clients: unusedChannel,
  payments: unusedChannel,
  webhooks: unusedChannel,
};
const settings = {
  rateLimits: {},
  loadBounds: { total: 1, perCaller: 1 },
  byteBounds: { perBusiness: 1, perNetwork: 1, total: 1 },
  connectionBounds: { perNetwork: 0, requestMs: 30_000, stallMs: 30_000 },
  allowInsecureUrls: false,
  fingerprintKeys: [],
  checkout: { keys: [Buffer.alloc(32)], cardFormOrigins: [], cardMarksDir: undefined, hasCaptcha: false },
  traceRatio: 0,
  trustedProxies: [],
};
const app = await createApp(createGateway(channels, settings, createLogger("openapi", "silent")));
await app.ready();
const document = `${JSON.stringify(app.swagger(), null, 2)}\n`;
await app.close();
await unusedChannel[Symbol.asyncDispose]();

if (!process.argv.includes("--check")) writeFileSync(target, document);
else if (readFileSync(target, "utf8") !== document) {
  process.stderr.write("docs/api/openapi.json does not match the routes. Run `npx --yes pnpm@12 generate`.\n");
  process.exitCode = 1;
}
