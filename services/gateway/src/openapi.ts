import { readFileSync, writeFileSync } from "node:fs";
import { createRpcChannel } from "@amana/rpc";
import { createLogger } from "@amana/runtime";
import { createApp } from "./app.ts";
import { createGateway } from "./gateway.ts";

/** Writes the OpenAPI document, or with --check says whether the written one is up to date. */
const target = new URL("../../../docs/api/openapi.json", import.meta.url);

// Nothing is asked: channels connect when they are first used.
const nowhere = createRpcChannel({ urls: ["http://127.0.0.1:1"], audience: "nowhere" });
const channels = { identity: nowhere, kyc: nowhere, clients: nowhere, payments: nowhere, webhooks: nowhere };
const settings = {
  rateLimits: {},
  loadBounds: { total: 1, perCaller: 1 },
  byteBounds: { perBusiness: 1, perNetwork: 1, total: 1 },
  connectionBounds: { perNetwork: 0, requestMs: 30_000, stallMs: 30_000 },
  allowInsecureUrls: false,
  fingerprintKeys: [],
  traceRatio: 0,
  trustedProxies: [],
};
const app = await createApp(createGateway(channels, settings, createLogger("openapi", "silent")));
await app.ready();
const document = `${JSON.stringify(app.swagger(), null, 2)}\n`;
await app.close();
await nowhere[Symbol.asyncDispose]();

if (!process.argv.includes("--check")) writeFileSync(target, document);
else if (readFileSync(target, "utf8") !== document) {
  process.stderr.write("docs/api/openapi.json is not what the routes say. Run `npx --yes pnpm@12 generate`.\n");
  process.exitCode = 1;
}
