import { ClientKycStatus } from "@amana/contracts/clients/v1/client_pb";
import { OnboardingStep, OverallStatus } from "@amana/contracts/clients/v1/onboarding_pb";
import { OnboardingDecision } from "@amana/contracts/clients/v1/onboarding_service_pb";
import { KycStatus } from "@amana/contracts/kyc/v1/kyc_application_pb";
import { accountPurposes, monthlyVolumes, occupationSectors, occupations, sourcesOfFunds } from "@amana/public-api";
import { DomainError } from "@amana/rpc";
import { someDetails as details } from "@amana/testing";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { startTestGateway, type TestGateway } from "../../test/harness.ts";

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startTestGateway();
});
afterAll(() => gateway[Symbol.asyncDispose]());
beforeEach(() => {
  gateway.received.length = 0;
  gateway.behaviour.onboarding.createOnboardingDetails = async () => message;
  gateway.behaviour.onboarding.updateOnboardingDetails = async () => message;
  gateway.behaviour.onboarding.getOnboardingDetails = async () => message;
  gateway.behaviour.onboarding.getOnboarding = async () => status;
});

const clientId = "019a0000-0000-7000-8000-000000000001";
const id = "019a0000-0000-7000-8000-000000000002";
const kycApplicationId = "019a0000-0000-7000-8000-000000000003";
const at = 1_795_170_000_000n;
const atText = "2026-11-20T10:20:00.000Z";
const link = "https://verify.example/v/secret";

const optional = {
  funds_origin_country_id: 12,
  other_occupation: "Luthier",
  other_source_of_funds: "Mécénat",
  tax_identification_number: "099916000000000",
};
const answers = {
  accountPurposes: ["SALARY", "SAVINGS"],
  expectedMonthlyIncomingVolume: "BETWEEN1001_AND5000",
  expectedMonthlyOutgoingVolume: "LESS_THAN1000",
  isUsPerson: false,
  occupation: "ENGINEER",
  occupationSector: "INFORMATIONAL_TECHNOLOGIES",
  sourceOfFunds: "SAVINGS_FROM_SALARY",
};
const optionalAnswers = {
  fundsOriginCountryId: 12,
  otherOccupation: "Luthier",
  otherSourceOfFunds: "Mécénat",
  taxIdentificationNumber: "099916000000000",
};
const message = { id, clientId, ...answers, createdAtMs: at, updatedAtMs: at };
const shown = { id, ...details, created_at: atText, updated_at: atText };
const status = {
  id,
  clientId,
  currentStep: OnboardingStep.KYC_PENDING,
  kycStatus: ClientKycStatus.CREATED,
  overallStatus: OverallStatus.IN_PROGRESS,
  createdAtMs: at,
  updatedAtMs: at,
};
const statusShown = {
  id,
  client_id: clientId,
  current_step: "KYC_PENDING",
  kyc_status: "CREATED",
  overall_status: "IN_PROGRESS",
  created_at: atText,
  updated_at: atText,
};

const send = (method: "GET" | "POST" | "PATCH", path: string, payload?: object, headers = gateway.business.headers) =>
  gateway.app.inject({
    method,
    url: `/api/v1/clients/${clientId}/onboarding${path}`,
    headers,
    ...(payload === undefined ? {} : { payload }),
  });
const received = () => gateway.received.at(-1)?.request as { answers?: Record<string, unknown> } | undefined;
const refuse =
  (kind: "conflict" | "invalid" | "not_found", code: string, members = {}) =>
  async () => {
    throw new DomainError(kind, code, "What to do.", { members });
  };

describe("POST onboarding/details", () => {
  test("answers 201 with the details and their Location", async () => {
    const answer = await send("POST", "/details", details);
    expect([answer.statusCode, answer.headers["location"]]).toEqual([201, `/api/v1/clients/${clientId}/onboarding/details`]);
    expect(answer.json()).toEqual(shown);
    expect(received()).toMatchObject({ clientId, answers });
  });

  test("takes every optional field", async () => {
    gateway.behaviour.onboarding.createOnboardingDetails = async () => ({ ...message, ...optionalAnswers });
    const answer = await send("POST", "/details", { ...details, ...optional });
    expect(answer.json()).toEqual({ ...shown, ...optional });
    expect(received()).toMatchObject({ answers: { ...answers, ...optionalAnswers, cleared: [] } });
  });

  test("takes the purposes under their other name", async () => {
    const { account_purposes, ...rest } = details;
    expect((await send("POST", "/details", { ...rest, account_purposes_input: account_purposes })).statusCode).toBe(201);
    expect(received()).toMatchObject({ answers });
    expect((await send("POST", "/details", { ...details, account_purposes_input: account_purposes })).statusCode).toBe(201);
    const both = await send("POST", "/details", { ...details, account_purposes_input: ["OTHER"] });
    expect([both.statusCode, both.json().errors]).toEqual([
      422,
      [expect.objectContaining({ pointer: "/account_purposes_input", code: "invalid" })],
    ]);
  });

  test("lists everything that is missing at once", async () => {
    const answer = await send("POST", "/details", {});
    expect(answer.statusCode).toBe(422);
    expect(
      answer
        .json()
        .errors.map((error: { pointer: string }) => error.pointer)
        .sort(),
    ).toEqual(
      Object.keys(details)
        .map((name) => `/${name}`)
        .sort(),
    );
  });

  test("the second time answers 409", async () => {
    gateway.behaviour.onboarding.createOnboardingDetails = refuse("conflict", "onboarding_details_exist");
    expect((await send("POST", "/details", details)).json()).toMatchObject({ status: 409, code: "onboarding_details_exist" });
  });

  test("what is missing because of OTHER gets an entry for each field", async () => {
    gateway.behaviour.onboarding.createOnboardingDetails = refuse("invalid", "onboarding_details_incomplete", {
      missing: "other_occupation,other_source_of_funds",
    });
    const answer = await send("POST", "/details", { ...details, occupation: "OTHER", source_of_funds: "OTHER" });
    expect([answer.statusCode, answer.json().code]).toEqual([422, "validation_failed"]);
    expect(answer.json().errors).toEqual([
      expect.objectContaining({ pointer: "/other_occupation", code: "required" }),
      expect.objectContaining({ pointer: "/other_source_of_funds", code: "required" }),
    ]);
  });
});

const texts = ["", "  ", 7, true, {}, "a".repeat(201), "a\0b"];
const purposesBad = [[], "SALARY", ["NOTHING"], ["salary"], ["SALARY", "SALARY"], [null], null, {}];
const bad: Record<string, readonly unknown[]> = {
  account_purposes: purposesBad,
  account_purposes_input: purposesBad,
  expected_monthly_incoming_volume: ["", "LESS_THAN_1000", 1000, null],
  expected_monthly_outgoing_volume: ["", "less_than1000", null],
  is_us_person: ["false", 0, null],
  occupation: ["", "engineer", "NOTHING", null],
  occupation_sector: ["", "IT", null],
  source_of_funds: ["", "SALARY", null],
  funds_origin_country_id: [0, -12, 12.5, "12", "DZA", 999, 280, 1e9, true],
  other_occupation: texts,
  other_source_of_funds: texts,
  tax_identification_number: texts,
  id: [id],
  client_id: [clientId],
  kyc_application_id: [kycApplicationId],
  kyc_link: [link],
  occupaton: ["ENGINEER"],
};

describe.each(["POST", "PATCH"] as const)("%s onboarding/details", (method) => {
  test.each(Object.keys(bad))("refuses bad values of %s with its pointer", async (name) => {
    const { account_purposes: _, ...withoutPurposes } = details;
    const base = method === "PATCH" ? {} : name === "account_purposes_input" ? withoutPurposes : details;
    for (const value of bad[name] ?? []) {
      const answer = await send(method, "/details", { ...base, [name]: value });
      expect([value, answer.statusCode]).toEqual([value, 422]);
      expect(answer.json().errors).toEqual([expect.objectContaining({ pointer: `/${name}` })]);
    }
    expect(gateway.received).toEqual([]);
  });

  test("takes each word of each list", async () => {
    const takes = async (name: string, value: unknown) => {
      const answer = await send(method, "/details", { ...(method === "POST" ? details : {}), [name]: value });
      expect([value, answer.statusCode]).toEqual([value, method === "POST" ? 201 : 200]);
    };
    for (const word of accountPurposes) await takes("account_purposes", [word]);
    for (const word of monthlyVolumes) await takes("expected_monthly_incoming_volume", word);
    for (const word of monthlyVolumes) await takes("expected_monthly_outgoing_volume", word);
    for (const word of occupations) await takes("occupation", word);
    for (const word of occupationSectors) await takes("occupation_sector", word);
    for (const word of sourcesOfFunds) await takes("source_of_funds", word);
    expect([accountPurposes, monthlyVolumes, occupations, occupationSectors, sourcesOfFunds].map((list) => list.length)).toEqual([
      13, 7, 17, 47, 16,
    ]);
  });
});

describe("PATCH onboarding/details", () => {
  test("passes only what is named, and answers the details", async () => {
    const answer = await send("PATCH", "/details", { account_purposes_input: ["PENSION"], is_us_person: true });
    expect([answer.statusCode, answer.json()]).toEqual([200, shown]);
    const { $typeName: _, ...given } = received()?.answers ?? {};
    expect(given).toEqual({ accountPurposes: ["PENSION"], isUsPerson: true, cleared: [] });
  });

  test("null clears each optional field", async () => {
    const nothing = Object.fromEntries(Object.keys(optional).map((name) => [name, null]));
    expect((await send("PATCH", "/details", nothing)).statusCode).toBe(200);
    expect(new Set(received()?.answers?.["cleared"] as string[])).toEqual(new Set(Object.keys(optional)));
  });

  test("an empty object names nothing", async () => {
    expect((await send("PATCH", "/details", {})).statusCode).toBe(200);
    const { $typeName: _, ...given } = received()?.answers ?? {};
    expect(given).toEqual({ accountPurposes: [], cleared: [] });
  });

  test("before there are details, what is missing is listed", async () => {
    gateway.behaviour.onboarding.updateOnboardingDetails = refuse("invalid", "onboarding_details_incomplete", {
      missing: "occupation,source_of_funds",
    });
    const answer = await send("PATCH", "/details", { is_us_person: true });
    expect([answer.statusCode, answer.json().code]).toEqual([422, "validation_failed"]);
    expect(answer.json().errors.map((error: { pointer: string }) => error.pointer)).toEqual(["/occupation", "/source_of_funds"]);
  });

  test("once verification has begun it answers 409 with the step", async () => {
    const members = { current_step: "KYC_PROCESSING" };
    gateway.behaviour.onboarding.updateOnboardingDetails = refuse("conflict", "onboarding_locked", members);
    expect((await send("PATCH", "/details", {})).json()).toMatchObject({ status: 409, code: "onboarding_locked", ...members });
  });
});

describe("GET onboarding/details", () => {
  test("answers the details", async () => {
    const answer = await send("GET", "/details");
    expect([answer.statusCode, answer.json()]).toEqual([200, shown]);
  });

  test("before there are any answers 404", async () => {
    gateway.behaviour.onboarding.getOnboardingDetails = refuse("not_found", "onboarding_details_not_found");
    expect((await send("GET", "/details")).json()).toMatchObject({ status: 404, code: "onboarding_details_not_found" });
  });
});

describe("GET onboarding/status", () => {
  test("answers the status", async () => {
    const answer = await send("GET", "/status");
    expect([answer.statusCode, answer.json()]).toEqual([200, statusShown]);
  });

  test("has every step, every verification status and every overall status of the interface", async () => {
    const shownFor = async (fields: object) => {
      gateway.behaviour.onboarding.getOnboarding = async () => ({ ...status, ...fields });
      return (await send("GET", "/status")).json();
    };
    for (const step of [
      "DETAILS_PENDING",
      "KYC_PENDING",
      "KYC_PROCESSING",
      "KYC_UNDER_REVIEW",
      "KYC_DECLINED",
      "PENDING_APPROVAL",
      "APPROVED",
    ] as const)
      expect(await shownFor({ currentStep: OnboardingStep[step] })).toMatchObject({ current_step: step });
    for (const word of ["NOT_STARTED", "CREATED", "PROCESSING", "PENDING_REVIEW", "VALIDATED", "DECLINED", "ABORTED"] as const)
      expect(await shownFor({ kycStatus: ClientKycStatus[word] })).toMatchObject({ kyc_status: word });
    for (const word of ["IN_PROGRESS", "UNDER_REVIEW", "DECLINED", "APPROVED"] as const)
      expect(await shownFor({ overallStatus: OverallStatus[word] })).toMatchObject({ overall_status: word });
  });
});

describe("kyc_link", () => {
  const open = { kycApplicationId, kycApplicationOpen: true };
  const application = { id: kycApplicationId, status: KycStatus.OPENED, linkUrl: link, attemptsRemaining: 2 };
  const seen = async () => {
    gateway.behaviour.onboarding.getOnboarding = async () => ({ ...status, ...open });
    gateway.behaviour.onboarding.getOnboardingDetails = async () => ({ ...message, ...open });
    return [(await send("GET", "/status")).json(), (await send("GET", "/details")).json()];
  };

  test("comes with the status and with the details while the application is not final", async () => {
    gateway.behaviour.kycApplications.getKycApplication = async () => application;
    for (const view of await seen()) expect(view).toMatchObject({ kyc_application_id: kycApplicationId, kyc_link: link });
    expect(gateway.received.map(({ rpc }) => rpc)).toEqual([
      "GetOnboarding",
      "GetKycApplication",
      "GetOnboardingDetails",
      "GetKycApplication",
    ]);
    expect(gateway.received[1]).toMatchObject({
      request: { id: kycApplicationId, stored: true },
      call: { caller: gateway.received[0]?.call.caller },
    });
  });

  test("is asked for neither without an application nor for one that is final", async () => {
    const closed = { kycApplicationId, kycApplicationOpen: false };
    gateway.behaviour.onboarding.getOnboarding = async () => ({ ...status, ...closed });
    expect((await send("GET", "/status")).json()).toEqual({ ...statusShown, kyc_application_id: kycApplicationId });
    expect(gateway.received.map(({ rpc }) => rpc)).toEqual(["GetOnboarding"]);
  });

  test.each([
    { status: KycStatus.COMPLETED },
    { status: KycStatus.EXPIRED },
    { status: KycStatus.CANCELED },
    { status: KycStatus.FAILED, attemptsRemaining: 0 },
  ])("is left out when the application became final a moment ago: %j", async (fields) => {
    gateway.behaviour.kycApplications.getKycApplication = async () => ({ ...application, ...fields });
    for (const view of await seen()) expect(view).not.toHaveProperty("kyc_link");
  });

  test("is left out, and the view goes out, when the KYC service does not answer", async () => {
    gateway.behaviour.kycApplications.getKycApplication = async () => {
      throw new DomainError("unavailable", "service_unavailable", "Away.");
    };
    for (const view of await seen()) {
      expect(view).toMatchObject({ id, kyc_application_id: kycApplicationId });
      expect(view).not.toHaveProperty("kyc_link");
    }
  });
});

describe.each(["approve", "decline"] as const)("POST onboarding/%s", (verb) => {
  const decision = verb === "approve" ? OnboardingDecision.APPROVED : OnboardingDecision.DECLINED;
  const post = (payload?: object, headers = gateway.admin.headers) => send("POST", `/${verb}`, payload, headers);

  test("is an operator's, takes no body or an empty one, and answers the status", async () => {
    gateway.behaviour.onboarding.decideOnboarding = async () => status;
    for (const payload of [undefined, {}]) {
      const answer = await post(payload);
      expect([answer.statusCode, answer.json()]).toEqual([200, statusShown]);
    }
    expect(gateway.received[0]).toMatchObject({ request: { clientId, decision }, call: { caller: { role: "admin" } } });
  });

  test("passes its reason on, and refuses what is none", async () => {
    gateway.behaviour.onboarding.decideOnboarding = async () => status;
    await post({ reason: "Sanctions list" });
    expect(received()).toMatchObject({ decision, reason: "Sanctions list" });
    for (const reason of ["", 7, null, "a".repeat(1_001)]) {
      expect([reason, (await post({ reason })).statusCode]).toEqual([reason, 422]);
    }
  });

  test("is not for businesses", async () => {
    expect((await post({}, gateway.business.headers)).json()).toMatchObject({ status: 403, code: "admin_required" });
    expect(gateway.received).toEqual([]);
  });

  test("from another step answers 409", async () => {
    gateway.behaviour.onboarding.decideOnboarding = refuse("conflict", "invalid_status_transition", {
      current_step: "KYC_PENDING",
    });
    expect((await post()).json()).toMatchObject({ status: 409, code: "invalid_status_transition", current_step: "KYC_PENDING" });
  });

  test("refuses unknown fields", async () => {
    expect((await post({ note: "x" })).json().errors).toEqual([expect.objectContaining({ pointer: "/note" })]);
  });
});

test.each(["/details", "/status"])("a malformed client id answers 404 at %s", async (path) => {
  const answer = await gateway.app.inject({
    method: "GET",
    url: `/api/v1/clients/nonsense/onboarding${path}`,
    headers: gateway.business.headers,
  });
  expect([answer.statusCode, answer.json().code]).toEqual([404, "not_found"]);
});
