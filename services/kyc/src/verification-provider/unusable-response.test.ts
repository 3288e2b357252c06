import { createLogger } from "@amana/runtime";
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { anApplication } from "../../test/an-application.ts";
import * as didit from "../../test/fixtures/didit.ts";
import * as sumsub from "../../test/fixtures/sumsub.ts";
import { htmlPage, json, startScriptedVendor } from "../../test/scripted-vendor.ts";

let vendor: Awaited<ReturnType<typeof startScriptedVendor>>;
beforeAll(async () => {
  vendor = await startScriptedVendor();
});
afterAll(() => vendor.stop());
beforeEach(() => {
  vendor.calls = [];
});

const approval = { outcome: "APPROVED", reviewer: "op_1", note: "" } as const;

describe("the client of Sumsub", () => {
  const known = { ...anApplication().toKnownApplication(), providerId: sumsub.applicantId, reference: sumsub.reference };
  const complete = {
    "/one": json(sumsub.anApplicant()),
    "/requiredIdDocsStatus": json(sumsub.someSteps()),
    "/amlCase": json(sumsub.anAmlCase()),
  };
  const onHold = { ...complete, "/one": json(sumsub.withReview({ reviewStatus: "onHold", reviewResult: undefined })) };
  const open = { ...complete, "/one": json(sumsub.withReview({ reviewStatus: "init", reviewResult: undefined })) };

  test.each(["/requiredIdDocsStatus", "/amlCase"])(
    "the Sumsub client's `get` returns an unknown outcome if the response from %s is not a JSON object",
    async (path) => {
      await using provider = vendor.aSumsubProvider();
      vendor.replies = complete;
      expect(await provider.get(known, 3_000)).toMatchObject({ kind: "accepted", value: { verdict: "APPROVED" } });
      for (const body of ["<html>maintenance</html>", "", "null", '"text"', "[".repeat(500_000)]) {
        vendor.replies = { ...complete, [path]: [200, body] };
        expect(await provider.get(known, 3_000)).toMatchObject({ kind: "unknown" });
      }
    },
  );

  test("the Sumsub client's `get` reads the AML case of an applicant on hold only before the application awaits review, and again after Sumsub's approval", async () => {
    await using provider = vendor.aSumsubProvider();
    const readsAml = async (changes: object) => {
      vendor.calls = [];
      expect(await provider.get({ ...known, ...changes }, 3_000)).toMatchObject({ kind: "accepted" });
      return vendor.calls.some((path) => path.endsWith("/amlCase"));
    };
    const inReview = { status: "COMPLETED", awaitsReview: true, providerVerdict: "NEEDS_REVIEW" };
    vendor.replies = onHold;
    expect(await readsAml({})).toBe(true);
    expect(await readsAml(inReview)).toBe(false);
    vendor.replies = complete;
    expect(await readsAml({ ...inReview, pendingOutcome: "APPROVED" })).toBe(true);
  });

  test.each([
    [[200, JSON.stringify({ id: sumsub.applicantId, deleted: true })], "accepted"],
    [[204, ""], "accepted"],
    [[409, '{"errorCode": 1008}'], "accepted"],
    [htmlPage(200), "unknown"],
    [[200, ""], "unknown"],
  ] as const)(
    "the Sumsub client's `cancel` and `erase`, after the response %j to the deactivation, return the outcome %s",
    async (reply, kind) => {
      await using provider = vendor.aSumsubProvider();
      vendor.replies = { ...open, "/presence/deactivated": reply };
      expect(await provider.cancel(known, "CANCELED", 3_000)).toMatchObject({ kind });
      expect(await provider.erase(known, 3_000)).toMatchObject({ kind });
    },
  );

  test.each(["approved", "on hold"])(
    "the Sumsub client's `cancel` for the reason USED_UP deactivates an applicant that is %s",
    async (review) => {
      await using provider = vendor.aSumsubProvider();
      vendor.replies = { ...(review === "on hold" ? onHold : complete), "/presence/deactivated": [200, '{"deleted": true}'] };
      expect(await provider.cancel(known, "USED_UP", 3_000)).toMatchObject({ kind: "accepted", value: { status: "FAILED" } });
      expect(vendor.calls.at(-1)).toContain("/presence/deactivated");
    },
  );

  test("the Sumsub client's `review` returns an unknown outcome for status 409 with the error code 1006 or without an error code", async () => {
    await using provider = vendor.aSumsubProvider();
    for (const body of ['{"errorCode": 1006}', '{"description": "try again"}', ""]) {
      vendor.replies = { ...onHold, "/approve": [409, body] };
      expect(await provider.review(known, approval, 3_000)).toMatchObject({ kind: "unknown" });
    }
  });
});

describe("the client of Didit", () => {
  const known = { ...anApplication().toKnownApplication(), providerId: didit.sessionId, reference: didit.reference };

  test("the Didit client's `review` returns a refusal if Didit rejects the decision with status 400 and the session is still in review", async () => {
    await using provider = vendor.aDiditProvider();
    const inReview = { ...known, awaitsReview: true, providerVerdict: "NEEDS_REVIEW" } as const;
    vendor.replies = {
      "/update-status/": [400, '["not allowed"]'],
      "/decision/": json(didit.aDecision({ status: "In Review" })),
    };
    expect(await provider.review(inReview, approval, 3_000)).toMatchObject({ kind: "refused", status: 400 });
  });

  test.each([
    [[204, ""], "accepted"],
    [[200, '{"detail": "deleted"}'], "accepted"],
    [[404, '{"detail": "Not found."}'], "accepted"],
    [htmlPage(200), "unknown"],
    [[200, ""], "unknown"],
  ] as const)(
    "the Didit client's `cancel` and `erase`, after the response %j to the deletion of the session, return the outcome %s",
    async (reply, kind) => {
      await using provider = vendor.aDiditProvider();
      vendor.replies = {
        "/decision/": json(didit.aDecision({ status: "Not Started" })),
        [`/session/${didit.sessionId}/delete/`]: reply,
        "/users/delete/": [200, '{"deleted": 1}'],
      };
      expect(await provider.cancel(known, "CANCELED", 3_000)).toMatchObject({ kind });
      expect(await provider.erase(known, 3_000)).toMatchObject({ kind });
    },
  );

  test("the Didit client's `erase` returns an unknown outcome if a proxy responds to the deletion of the user with an HTML page", async () => {
    await using provider = vendor.aDiditProvider();
    vendor.replies = { [`/session/${didit.sessionId}/delete/`]: [204, ""], "/users/delete/": htmlPage(200) };
    expect(await provider.erase(known, 3_000)).toMatchObject({ kind: "unknown" });
  });

  test.each([401, 403])("the Didit client's `get` returns an unknown outcome and logs an alert for status %i", async (status) => {
    const log = createLogger("kyc", "silent");
    const error = vi.spyOn(log, "error");
    await using provider = vendor.aDiditProvider(log);
    vendor.replies = { "/decision/": [status, '{"detail": "no"}'] };
    expect(await provider.get(known, 3_000)).toMatchObject({ kind: "unknown" });
    expect(error.mock.calls).toMatchObject([[{ alert: true, status }, "credentials rejected by the verification provider"]]);
  });
});
