import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { readCallbackHint, readChanges, readCreated, readErrorCode, readState } from "./read-response.ts";

const completeState = {
  provider_id: "ver_1",
  reference: "r",
  status: "COMPLETED",
  sequence: 5,
  verdict: "APPROVED",
  attempts_used: 1,
};
const createdContent = {
  provider_id: "ver_1",
  link_url: "https://verify.test/t",
  link_expires_at: "2026-03-04T10:00:00+01:00",
  status: "CREATED",
};

describe("readState and readCreated", () => {
  test("readState returns only fields on the allow-list, and no personal data", () => {
    const content = {
      ...completeState,
      first_name: "Canary",
      document_number: "X1",
      photo: "aGk=",
      profile: { last_name: "Canary" },
    };
    const texts = { decision_summary: "Canary was seen", error_message: "Canary", nationality: "CAN ARY" };
    const reasons = { reason_codes: [{ code: "DUPLICATE", message: "Canary again", applicant: "Canary" }] };
    const json = JSON.stringify(readState({ ...content, ...texts, ...reasons }));
    for (const forbiddenText of ["Canary", "CAN", "X1", "aGk="]) expect(json).not.toContain(forbiddenText);
    expect(json).toContain('"reasonCodes":["DUPLICATE"]');
  });

  test("readState returns undefined for each evidence field with an unknown value, and omits unknown reason codes", () => {
    const result = readState({
      ...completeState,
      reason_codes: [{ code: "OTHER" }, "x", null, { code: "UNDERAGE" }],
      liveness_outcome: "MAYBE",
      document_type: "driving_licence",
      nationality: "ALI",
      aml_decision: "clear",
      aml_hit_count: -1,
    });
    expect(result).toMatchObject({ reasonCodes: ["UNDERAGE"] });
    for (const name of ["livenessOutcome", "documentType", "nationality", "amlDecision", "amlHitCount"]) {
      expect(result).toHaveProperty(name, undefined);
    }
  });

  test.each([
    { liveness_outcome: "MAYBE" },
    { face_match_outcome: 1 },
    { document_type: "driving_licence" },
    { document_expiry: "31/12/2020" },
    { aml_decision: "clear" },
    { aml_hit_count: "2" },
    { aml_hit_count: -1 },
    { verdict: "MAYBE" },
    { reason_codes: "AML_MATCH" },
    { reason_codes: { code: "AML_MATCH" } },
    { reason_codes: ["AML_MATCH"] },
    { reason_codes: [{ code: "aml_match" }] },
    { reason_codes: [{ code: "AML_MATCH" }, { code: "NEW" }] },
    { reason_codes: [null] },
    { reason_codes: Array.from({ length: 21 }, () => ({ code: "DUPLICATE" })) },
  ])("readState lists the field in `unread` if its value is unknown: %o", (change) => {
    expect(readState({ ...completeState, ...change })?.unread).toEqual(Object.keys(change));
  });

  test.each([
    {},
    { aml_decision: null },
    { aml_decision: "" },
    { nationality: "Algerian" },
    { reason_codes: null },
    { reason_codes: [] },
  ])("readState lists no field in `unread` for %o", (change) =>
    expect(readState({ ...completeState, ...change })?.unread).toEqual([]),
  );

  test.each(["2026-02-31", "2026-13-01", "0000-01-01", "31/12/2026", "2026-1-1", 20_261_231])(
    "readState returns no document expiry for the invalid day %s",
    (day) => {
      expect(readState({ ...completeState, document_expiry: day })?.documentExpiry).toBeUndefined();
    },
  );

  test.each([
    { provider_id: undefined },
    { reference: "" },
    { status: "DONE" },
    { sequence: "5" },
    { sequence: 1.5 },
    { sequence: 2 ** 31 },
  ])("readState returns undefined for a state with %o", (change) => {
    expect(readState({ ...completeState, ...change })).toBeUndefined();
  });

  test.each([
    { link_url: "javascript:alert(1)" },
    { link_url: `https://verify.test/${"x".repeat(2_048)}` },
    { link_expires_at: "soon" },
    { provider_id: "a b" },
  ])("readCreated returns undefined for a created application with %o", (change) => {
    expect(readCreated(createdContent)).toMatchObject({ linkExpiresAt: new Date("2026-03-04T09:00:00Z"), status: "CREATED" });
    expect(readCreated({ ...createdContent, ...change })).toBeUndefined();
  });

  test("readState, readCreated, readChanges, readErrorCode and readCallbackHint throw no error for random content", () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.uint8Array(), (content, bytes) => {
        readState(content);
        readCreated(content);
        readChanges(content, null);
        readErrorCode(content);
        readCallbackHint(bytes);
        readCallbackHint(Buffer.from(JSON.stringify(content)));
      }),
    );
  });
});

test("readChanges omits unreadable changes, and returns the previous cursor if the page has no cursor", () => {
  const events = [{ sequence: 2, application: { provider_id: "ver_1" } }, { sequence: "x" }, null];
  expect(readChanges({ events, cursor: "7" }, "5")).toEqual({ changes: [{ providerId: "ver_1", sequence: 2 }], cursor: "7" });
  expect(readChanges({ events: [] }, "5")).toEqual({ changes: [], cursor: "5" });
  expect(readChanges({}, "5")).toBeUndefined();
});
