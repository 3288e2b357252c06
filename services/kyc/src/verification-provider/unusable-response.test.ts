import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { createLogger } from "@amana/runtime";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { anApplication } from "../../test/an-application.ts";
import * as didit from "../../test/fixtures/didit.ts";
import * as sumsub from "../../test/fixtures/sumsub.ts";
import { createDiditProvider } from "./didit/didit-provider.ts";
import { createSumsubProvider } from "./sumsub/sumsub-provider.ts";

type Reply = readonly [status: number, body: string];
const json = (content: unknown): Reply => [200, JSON.stringify(content)];

/** Replies by the end of the path. */
let replies: Readonly<Record<string, Reply>> = {};
const server = createServer((request, response) => {
  const path = request.url?.split("?")[0] ?? "";
  const [status, body] = Object.entries(replies).find(([end]) => path.endsWith(end))?.[1] ?? [500, ""];
  response.writeHead(status, { "content-type": "application/json" }).end(body);
});
let url = "";
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => server.close());

const logger = createLogger("kyc", "silent");
const common = { webhookSecrets: ["s"], callbackUrl: url, uncompared: "refuse", timeoutMs: 3_000 } as const;

describe("get of Sumsub", () => {
  const levels = { both: "amana", id_card: undefined, passport: undefined };
  const config = () => ({
    ...common,
    url,
    appToken: "prd:x",
    secretKey: "x",
    isSandbox: false,
    video: levels,
    still: levels,
    ttlHours: 72,
    ttlHoursMax: 720,
    amlPerMinute: 6_000,
    webhookId: undefined,
  });
  const known = { ...anApplication().known(), providerId: sumsub.applicantId, reference: sumsub.reference };
  const complete = {
    "/one": json(sumsub.anApplicant()),
    "/requiredIdDocsStatus": json(sumsub.someSteps()),
    "/amlCase": json(sumsub.anAmlCase()),
  };

  test.each(["/requiredIdDocsStatus", "/amlCase"])("returns unknown while %s is not a JSON object", async (path) => {
    await using provider = createSumsubProvider(config(), logger);
    replies = complete;
    expect(await provider.get(known, 3_000)).toMatchObject({ kind: "accepted", value: { verdict: "APPROVED" } });
    for (const body of ["<html>maintenance</html>", "", "null", '"text"', "[".repeat(500_000)]) {
      replies = { ...complete, [path]: [200, body] };
      expect(await provider.get(known, 3_000)).toMatchObject({ kind: "unknown" });
    }
  });
});

describe("review of Didit", () => {
  test("returns a refusal if Didit rejects the decision and the session is still in review", async () => {
    const config = {
      ...common,
      url,
      apiKey: "x",
      environment: "live",
      workflowId: "w",
      workflowIdStill: undefined,
      destinationId: undefined,
    };
    await using provider = createDiditProvider(config as Parameters<typeof createDiditProvider>[0], logger);
    const known = {
      ...anApplication().known(),
      providerId: didit.sessionId,
      reference: didit.reference,
      awaitsReview: true,
      providerVerdict: "NEEDS_REVIEW",
    } as const;
    replies = { "/update-status/": [400, '["not allowed"]'], "/decision/": json(didit.aDecision({ status: "In Review" })) };
    const decision = { outcome: "APPROVED", reviewer: "op_1", note: "" } as const;
    expect(await provider.review(known, decision, 3_000)).toMatchObject({ kind: "refused", status: 400 });
  });
});
