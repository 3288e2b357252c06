import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { createLogger } from "@amana/runtime";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { evaluate } from "../src/kyc-application/evaluate.ts";
import { createDiditProvider } from "../src/verification-provider/didit/didit-provider.ts";
import { readApplicant, readReview } from "../src/verification-provider/sumsub/read-applicant.ts";
import { createSumsubProvider } from "../src/verification-provider/sumsub/sumsub-provider.ts";
import type { ApplicationToCreate } from "../src/verification-provider/verification-provider.ts";
import { anApplication } from "./an-application.ts";
import * as didit from "./fixtures/didit.ts";
import * as sumsub from "./fixtures/sumsub.ts";

type Reply = readonly [status: number, body: string];
const json = (content: unknown, status = 200): Reply => [status, JSON.stringify(content)];
const page = (status: number): Reply => [status, "<html>proxy</html>"];

/** Replies by the end of the path. */
let replies: Readonly<Record<string, Reply>> = {};
/** Methods and paths of the received requests. */
let calls: string[] = [];
const server = createServer((request, response) => {
  const path = request.url?.split("?")[0] ?? "";
  calls.push(`${request.method} ${path}`);
  const [status, body] = Object.entries(replies).find(([end]) => path.endsWith(end))?.[1] ?? [500, ""];
  const type = body.startsWith("<") ? "text/html" : "application/json";
  response.writeHead(status, { "content-type": type }).end(status === 204 ? undefined : body);
});
let url = "";
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => server.close());
beforeEach(() => {
  calls = [];
});

const logger = createLogger("kyc", "silent");
const common = { webhookSecrets: ["s"], callbackUrl: "http://127.0.0.1", uncompared: "refuse", timeoutMs: 3_000 } as const;
const approval = { outcome: "APPROVED", reviewer: "op_1", note: "" } as const;
const aCreation = (reference: string): ApplicationToCreate => ({
  reference,
  locale: "fr",
  allowedDocuments: ["id_card", "passport"],
  maxAttempts: 1,
  requireVideo: true,
  ttlHours: undefined,
  redirectUrl: undefined,
  applicantEmail: undefined,
  applicantPhone: undefined,
  profile: undefined,
});

describe("the client of Sumsub", () => {
  const levels = { both: "amana", id_card: undefined, passport: undefined };
  const aProvider = () =>
    createSumsubProvider(
      {
        ...common,
        url,
        appToken: "prd:x",
        secretKey: "x",
        isSandbox: false,
        video: levels,
        still: { both: undefined, id_card: undefined, passport: undefined },
        ttlHours: 72,
        ttlHoursMax: 720,
        amlPerMinute: 6_000,
        webhookId: undefined,
      },
      logger,
    );
  const known = { ...anApplication().known(), providerId: sumsub.applicantId, reference: sumsub.reference };
  const steps = { "/requiredIdDocsStatus": json(sumsub.someSteps()), "/amlCase": json(sumsub.anAmlCase()) };
  const open = { ...steps, "/one": json(sumsub.withReview({ reviewStatus: "init", reviewResult: undefined })) };
  const onHold = { ...steps, "/one": json(sumsub.withReview({ reviewStatus: "onHold", reviewResult: undefined })) };
  const setup = {
    "/levels": json({ list: { items: [{ id: "l1", name: "amana" }] } }),
    "/levels/l1": json({
      applicantType: "individual",
      requiredIdDocs: {
        docSets: [
          { idDocSetType: "IDENTITY", types: ["PASSPORT", "ID_CARD"], videoRequired: "docapture" },
          { idDocSetType: "SELFIE", videoRequired: "passiveLiveness" },
        ],
      },
    }),
  };

  test("cancel of the Sumsub client returns unknown if a proxy's HTML page with the status 404 is the response to the read", async () => {
    await using provider = aProvider();
    replies = { "/one": page(404) };
    expect(await provider.cancel(known, "CANCELED", 3_000)).toMatchObject({ kind: "unknown" });
  });

  test("erase of the Sumsub client returns unknown if a proxy's HTML page with the status 404 is the response to the deactivation", async () => {
    await using provider = aProvider();
    replies = { "/presence/deactivated": page(404) };
    expect(await provider.erase(known, 3_000)).toMatchObject({ kind: "unknown" });
  });

  test("get of the Sumsub client returns unknown if a proxy's HTML page with the status 404 is the response to the read of the AML case", async () => {
    await using provider = aProvider();
    replies = { ...steps, "/one": json(sumsub.anApplicant()), "/amlCase": page(404) };
    expect(await provider.get(known, 3_000)).toMatchObject({ kind: "unknown" });
  });

  test("cancel of the Sumsub client returns no success if the response to the deactivation states that the applicant is not deleted", async () => {
    await using provider = aProvider();
    for (const body of [
      { id: sumsub.applicantId, deleted: false },
      { ok: 0, errorCode: 1006 },
    ]) {
      replies = { ...open, "/presence/deactivated": json(body) };
      expect(await provider.cancel(known, "CANCELED", 3_000)).not.toMatchObject({ kind: "accepted" });
    }
  });

  test("cancel of the Sumsub client does not report the applicant as closed if the response describes another applicant that is deleted", async () => {
    await using provider = aProvider();
    const other = sumsub.anApplicant({ id: "5b594ade0a975a36c9349e99", externalUserId: "other", deleted: true });
    replies = { ...open, "/one": json(other), "/presence/deactivated": json({}) };
    const outcome = await provider.cancel(known, "CANCELED", 3_000);
    const isClosedThere = calls.some((call) => call.startsWith("PATCH"));
    expect({ isClosedThere, status: outcome.kind === "accepted" && outcome.value.reference === known.reference }).not.toEqual({
      isClosedThere: false,
      status: true,
    });
  });

  test("review of the Sumsub client returns unknown if a proxy's HTML page with the status 200 is the response to the decision", async () => {
    await using provider = aProvider();
    const inReview = { ...known, status: "COMPLETED", awaitsReview: true, providerVerdict: "NEEDS_REVIEW" } as const;
    replies = { ...onHold, "/approve": page(200) };
    expect(await provider.review(inReview, approval, 3_000)).toMatchObject({ kind: "unknown" });
  });

  test("create of the Sumsub client returns unknown, not a refusal, if Sumsub returns 409 to the creation and 404 to the search for the applicant", async () => {
    await using provider = aProvider();
    replies = { ...setup, "/resources/applicants": json({ code: 409 }, 409), "/one": json({ code: 404 }, 404) };
    expect(await provider.create(aCreation(sumsub.reference), 3_000)).toMatchObject({ kind: "unknown" });
  });

  test("create of the Sumsub client succeeds directly after an outage in which one level could not be read", async () => {
    await using provider = aProvider();
    const created = {
      "/resources/applicants": json({ id: sumsub.applicantId }, 201),
      "/websdkLink": json({ url: "https://x.test/l" }),
    };
    replies = { ...created, "/levels": setup["/levels"], "/levels/l1": page(503) };
    expect(await provider.create(aCreation(sumsub.reference), 3_000)).toMatchObject({ kind: "unknown" });
    replies = { ...created, ...setup };
    expect(await provider.create(aCreation(sumsub.reference), 3_000)).toMatchObject({ kind: "accepted" });
  });

  test("an applicant without a level name is not APPROVED after the setting of its level was removed", () => {
    const applicant = sumsub.withReview({ levelName: undefined });
    const review = readReview(applicant);
    const responses = { applicant, steps: sumsub.someSteps(), amlCase: sumsub.anAmlCase() };
    const state = review && readApplicant(review, responses, known, undefined);
    const terms = { requireVideo: true, allowedDocuments: ["id_card", "passport"] } as const;
    expect(state && evaluate(state.verdict, state, terms, "2026-05-02").verdict).toBe("NEEDS_REVIEW");
  });
});

describe("the client of Didit", () => {
  const aProvider = () =>
    createDiditProvider(
      {
        ...common,
        url,
        apiKey: "x",
        environment: "live",
        workflowId: "w",
        workflowIdStill: undefined,
        destinationId: undefined,
      } as Parameters<typeof createDiditProvider>[0],
      logger,
    );
  const known = { ...anApplication().known(), providerId: didit.sessionId, reference: didit.reference };
  const inReview = { ...known, status: "COMPLETED", awaitsReview: true, providerVerdict: "NEEDS_REVIEW" } as const;

  test.each([
    ["the read", { "/decision/": page(404) }],
    ["the deletion", { "/decision/": json(didit.aDecision({ status: "Not Started" })), "/delete/": page(404) }],
  ])(
    "cancel of the Didit client returns unknown if a proxy's HTML page with the status 404 is the response to %s",
    async (_call, list) => {
      await using provider = aProvider();
      replies = list;
      expect(await provider.cancel(known, "CANCELED", 3_000)).toMatchObject({ kind: "unknown" });
    },
  );

  test.each([
    ["the session with the status 404", { "/users/delete/": json({ deleted: 1 }), "/delete/": page(404) }],
    ["the user with the status 404", { "/users/delete/": page(404), "/delete/": [204, ""] as Reply }],
    ["the user with the status 202", { "/users/delete/": page(202), "/delete/": [204, ""] as Reply }],
  ])(
    "erase of the Didit client returns unknown if a proxy's HTML page is the response to the deletion of %s",
    async (_what, list) => {
      await using provider = aProvider();
      replies = list;
      expect(await provider.erase(known, 3_000)).toMatchObject({ kind: "unknown" });
    },
  );

  test("cancel of the Didit client, after the last attempt, does not report its session as closed if the response describes another session", async () => {
    await using provider = aProvider();
    const other = didit.aDecision({ session_id: "7a4a3a8e-5f0e-4b6e-9b5c-222222222222", vendor_data: "other" });
    replies = { "/decision/": json(other), "/delete/": [204, ""] };
    const outcome = await provider.cancel({ ...known, status: "FAILED", attemptsUsed: 1, maxAttempts: 1 }, "USED_UP", 3_000);
    const isClosedThere = calls.some((call) => call.startsWith("DELETE"));
    const isReportedClosed = outcome.kind === "accepted" && outcome.value.reference === known.reference;
    expect({ isClosedThere, isReportedClosed }).not.toEqual({ isClosedThere: false, isReportedClosed: true });
  });

  test("review of the Didit client returns unknown if a proxy's HTML page with the status 200 is the response to the decision", async () => {
    await using provider = aProvider();
    replies = { "/update-status/": page(200), "/decision/": json(didit.aDecision({ status: "In Review" })) };
    expect(await provider.review(inReview, approval, 3_000)).toMatchObject({ kind: "unknown" });
  });

  test("get of the Didit client does not count a person's approval that a later change of status withdrew as proof for an approval without a row", async () => {
    await using provider = aProvider();
    const reviews = [
      didit.aReview({ previous_status: "Approved", new_status: "Resubmitted", created_at: "2026-05-02T10:00:00Z" }),
      didit.aReview({ created_at: "2026-05-01T10:00:00Z" }),
    ];
    replies = { "/decision/": json(didit.aDecision()), "/reviews/": json({ results: reviews }) };
    const outcome = await provider.get(inReview, 3_000);
    expect(outcome).toMatchObject({ kind: "accepted", value: { verdict: "NEEDS_REVIEW" } });
  });

  test("get of the Didit client does not count a person's approval as proof if the list of reviews continues on another page, oldest first", async () => {
    await using provider = aProvider();
    const results = Array.from({ length: 10 }, (_, day) =>
      didit.aReview({ created_at: `2026-05-0${Math.min(day + 1, 9)}T10:00:00Z` }),
    );
    const next = "https://verification.didit.me/v3/sessions/x/reviews/?offset=10";
    replies = { "/decision/": json(didit.aDecision()), "/reviews/": json({ count: 11, next, previous: null, results }) };
    const outcome = await provider.get(inReview, 3_000);
    expect(outcome).toMatchObject({ kind: "accepted", value: { verdict: "NEEDS_REVIEW" } });
  });
});
