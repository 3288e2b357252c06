import { KycApplicationSchema, KycStatus, KycVerdict } from "@amana/contracts/kyc/v1/kyc_application_pb";
import { KycEventSchema, KycEventType } from "@amana/contracts/kyc/v1/kyc_events_pb";
import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { Check } from "typebox/value";
import { describe, expect, test } from "vitest";
import {
  KycApplicationCreation,
  KycApplicationJson,
  KycReviewJson,
  renderKycApplication,
  renderKycApplicationCreation,
} from "./kyc-application.ts";
import { renderKycEvent } from "./kyc-event.ts";

const id = "019a0000-0000-7000-8000-000000000001";
const at = 1_795_170_000_000n;
const isoAt = "2026-11-20T10:20:00.000Z";
/** Metadata with numbers, escapes and a key order that JSON.parse does not preserve. */
const metadata = String.raw`{"z":1,"a":{"n":12345678901234567890,"f":1.10,"e":1E+2},"t":"\u00e9 \ud83d\ude00","k":[null,true,"\/"],"z2":{},"1":0}`;

const anApplication = (fields: MessageInitShape<typeof KycApplicationSchema> = {}) =>
  create(KycApplicationSchema, {
    id,
    businessId: id,
    createdAtMs: at,
    linkUrl: "https://verify.test/token",
    linkExpiresAtMs: at,
    status: KycStatus.CREATED,
    syncedAtMs: at,
    metadata: "{}",
    attemptsRemaining: 3,
    ...fields,
  });

const decided = {
  status: KycStatus.COMPLETED,
  verdict: KycVerdict.REJECTED,
  reasonCodes: [{ code: "DOCUMENT_EXPIRED" }, { code: "DUPLICATE", message: "seen before" }],
  amlHitCount: 2,
  documentExpiry: "2026-01-31",
} satisfies MessageInitShape<typeof KycApplicationSchema>;

describe("renderKycApplication", () => {
  test("renderKycApplicationCreation renders only the fields of the creation response", () => {
    const json = JSON.parse(JSON.stringify(renderKycApplicationCreation(anApplication({ metadata: '{"a":1}' }))));
    expect(Check(KycApplicationCreation, json)).toBe(true);
    expect(json).toEqual({
      id,
      created_at: isoAt,
      link_url: "https://verify.test/token",
      link_expires_at: isoAt,
      status: "CREATED",
    });
  });

  test("renderKycApplication renders zeros and empty lists, but omits fields without a value, if the application has no verdict", () => {
    const json = JSON.parse(renderKycApplication(anApplication({ linkUrl: undefined })));
    expect(Object.keys(json).sort()).toEqual((KycApplicationJson.required as string[]).toSorted());
    expect(json).toMatchObject({ aml_hit_count: 0, reason_codes: [], metadata: {}, attempts_used: 0, attempts_remaining: 3 });
  });

  test("renderKycApplication renders all fields that have a value", () => {
    const json = JSON.parse(
      renderKycApplication(
        anApplication({
          ...decided,
          clientId: id,
          externalId: "x",
          completedAtMs: at,
          decisionSummary: "x",
          documentType: "passport",
          errorMessage: "x",
          faceMatchOutcome: "PASSED",
          livenessOutcome: "PASSED",
          nationality: "DZA",
          amlDecision: "CLEAR",
        }),
      ),
    );
    expect(Object.keys(json).sort()).toEqual(Object.keys(KycApplicationJson.properties).sort());
    expect(Check(KycApplicationJson, json)).toBe(true);
  });

  test("renderKycApplication omits the link when the message has no link", () => {
    const json = JSON.parse(renderKycApplication(anApplication({ linkUrl: undefined })));
    expect(json).not.toHaveProperty("link_url");
    expect(Check(KycReviewJson, json)).toBe(true);
  });

  test("renderKycApplication inserts the metadata byte for byte", () => {
    expect(renderKycApplication(anApplication({ metadata })).endsWith(`,"metadata":${metadata}}`)).toBe(true);
  });
});

describe("renderKycEvent", () => {
  const body = (application: MessageInitShape<typeof KycApplicationSchema>, type: KycEventType = KycEventType.KYC_REJECTED) =>
    renderKycEvent(create(KycEventSchema, { type, application: anApplication(application) }), id, isoAt);

  test("renderKycEvent renders the fields in a fixed order and inserts the metadata byte for byte", () => {
    expect(body({ ...decided, clientId: id, externalId: 'é"', metadata })).toBe(
      `{"id":"${id}","event":"KYC_REJECTED","occurred_at":"${isoAt}","business_id":"${id}","application_id":"${id}","client_id":"${id}","external_id":"é\\"","metadata":${metadata},"status":"COMPLETED","verdict":"REJECTED","reason_codes":[{"code":"DOCUMENT_EXPIRED"},{"code":"DUPLICATE","message":"seen before"}],"document_expiry":"2026-01-31","aml_hit_count":2}`,
    );
  });

  test("renderKycEvent omits the link and fields without a value", () => {
    expect(body({}, KycEventType.KYC_EXPIRED)).toBe(
      `{"id":"${id}","event":"KYC_EXPIRED","occurred_at":"${isoAt}","business_id":"${id}","application_id":"${id}","metadata":{},"status":"CREATED","reason_codes":[],"aml_hit_count":0}`,
    );
  });

  test("renderKycEvent throws a TypeError if the message contains no application", () => {
    expect(() => renderKycEvent(create(KycEventSchema, {}), id, isoAt)).toThrow(TypeError);
  });
});
