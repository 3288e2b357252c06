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
const expectedJson = { id, ...details, created_at: atText, updated_at: atText };
const status = {
  id,
  clientId,
  currentStep: OnboardingStep.KYC_PENDING,
  kycStatus: ClientKycStatus.CREATED,
  overallStatus: OverallStatus.IN_PROGRESS,
  createdAtMs: at,
  updatedAtMs: at,
};
const statusJson = {
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
    throw new DomainError(kind, code, "The request was refused.", { members });
  };

describe("POST onboarding/details", () => {
  test("POST onboarding/details returns 201 with the details and their Location", async () => {
    const response = await send("POST", "/details", details);
    expect([response.statusCode, response.headers["location"]]).toEqual([201, `/api/v1/clients/${clientId}/onboarding/details`]);
    expect(response.json()).toEqual(expectedJson);
    expect(received()).toMatchObject({ clientId, answers });
  });

  test("POST onboarding/details accepts each optional field", async () => {
    gateway.behaviour.onboarding.createOnboardingDetails = async () => ({ ...message, ...optionalAnswers });
    const response = await send("POST", "/details", { ...details, ...optional });
    expect(response.json()).toEqual({ ...expectedJson, ...optional });
    expect(received()).toMatchObject({ answers: { ...answers, ...optionalAnswers, cleared: [] } });
  });

  test("POST onboarding/details accepts the alias account_purposes_input, and rejects an alias with a different value", async () => {
    const { account_purposes, ...otherDetails } = details;
    expect((await send("POST", "/details", { ...otherDetails, account_purposes_input: account_purposes })).statusCode).toBe(201);
    expect(received()).toMatchObject({ answers });
    expect((await send("POST", "/details", { ...details, account_purposes_input: account_purposes })).statusCode).toBe(201);
    const contradiction = await send("POST", "/details", { ...details, account_purposes_input: ["OTHER"] });
    expect([contradiction.statusCode, contradiction.json().errors]).toEqual([
      422,
      [expect.objectContaining({ pointer: "/account_purposes_input", code: "invalid" })],
    ]);
  });

  test("POST onboarding/details returns an error for each missing field", async () => {
    const response = await send("POST", "/details", {});
    expect(response.statusCode).toBe(422);
    expect(
      response
        .json()
        .errors.map((error: { pointer: string }) => error.pointer)
        .sort(),
    ).toEqual(
      Object.keys(details)
        .map((name) => `/${name}`)
        .sort(),
    );
  });

  test("POST onboarding/details returns 409 when the client already has details", async () => {
    gateway.behaviour.onboarding.createOnboardingDetails = refuse("conflict", "onboarding_details_exist");
    expect((await send("POST", "/details", details)).json()).toMatchObject({ status: 409, code: "onboarding_details_exist" });
  });

  test("POST onboarding/details returns an error for each missing field that is required because another field is OTHER", async () => {
    gateway.behaviour.onboarding.createOnboardingDetails = refuse("invalid", "onboarding_details_incomplete", {
      missing: "other_occupation,other_source_of_funds",
    });
    const response = await send("POST", "/details", { ...details, occupation: "OTHER", source_of_funds: "OTHER" });
    expect([response.statusCode, response.json().code]).toEqual([422, "validation_failed"]);
    expect(response.json().errors).toEqual([
      expect.objectContaining({ pointer: "/other_occupation", code: "required" }),
      expect.objectContaining({ pointer: "/other_source_of_funds", code: "required" }),
    ]);
  });
});

const invalidTexts = ["", "  ", 7, true, {}, "a".repeat(201), "a\0b"];
const invalidPurposes = [[], "SALARY", ["NOTHING"], ["salary"], ["SALARY", "SALARY"], [null], null, {}];
const invalidValues: Record<string, readonly unknown[]> = {
  account_purposes: invalidPurposes,
  account_purposes_input: invalidPurposes,
  expected_monthly_incoming_volume: ["", "LESS_THAN_1000", 1000, null],
  expected_monthly_outgoing_volume: ["", "less_than1000", null],
  is_us_person: ["false", 0, null],
  occupation: ["", "engineer", "NOTHING", null],
  occupation_sector: ["", "IT", null],
  source_of_funds: ["", "SALARY", null],
  funds_origin_country_id: [0, -12, 12.5, "12", "DZA", 999, 280, 1e9, true],
  other_occupation: invalidTexts,
  other_source_of_funds: invalidTexts,
  tax_identification_number: invalidTexts,
  id: [id],
  client_id: [clientId],
  kyc_application_id: [kycApplicationId],
  kyc_link: [link],
  occupaton: ["ENGINEER"],
};

describe.each(["POST", "PATCH"] as const)("%s onboarding/details", (method) => {
  test.each(Object.keys(invalidValues))(
    `${method} onboarding/details rejects invalid values of %s, and the error has a pointer to the field`,
    async (name) => {
      const { account_purposes: _, ...withoutPurposes } = details;
      const base = method === "PATCH" ? {} : name === "account_purposes_input" ? withoutPurposes : details;
      for (const value of invalidValues[name] ?? []) {
        const response = await send(method, "/details", { ...base, [name]: value });
        expect([value, response.statusCode]).toEqual([value, 422]);
        expect(response.json().errors).toEqual([expect.objectContaining({ pointer: `/${name}` })]);
      }
      expect(gateway.received).toEqual([]);
    },
  );

  test(`${method} onboarding/details accepts each value of each enum`, async () => {
    const expectAccepted = async (name: string, value: unknown) => {
      const response = await send(method, "/details", { ...(method === "POST" ? details : {}), [name]: value });
      expect([value, response.statusCode]).toEqual([value, method === "POST" ? 201 : 200]);
    };
    for (const value of accountPurposes) await expectAccepted("account_purposes", [value]);
    for (const value of monthlyVolumes) await expectAccepted("expected_monthly_incoming_volume", value);
    for (const value of monthlyVolumes) await expectAccepted("expected_monthly_outgoing_volume", value);
    for (const value of occupations) await expectAccepted("occupation", value);
    for (const value of occupationSectors) await expectAccepted("occupation_sector", value);
    for (const value of sourcesOfFunds) await expectAccepted("source_of_funds", value);
    expect([accountPurposes, monthlyVolumes, occupations, occupationSectors, sourcesOfFunds].map((list) => list.length)).toEqual([
      13, 7, 17, 47, 16,
    ]);
  });
});

describe("PATCH onboarding/details", () => {
  test("PATCH onboarding/details sends only the fields of the request to the clients service, and returns the details", async () => {
    const response = await send("PATCH", "/details", { account_purposes_input: ["PENSION"], is_us_person: true });
    expect([response.statusCode, response.json()]).toEqual([200, expectedJson]);
    const { $typeName: _, ...fields } = received()?.answers ?? {};
    expect(fields).toEqual({ accountPurposes: ["PENSION"], isUsPerson: true, cleared: [] });
  });

  test("PATCH onboarding/details clears each optional field that is null in the request", async () => {
    const cleared = Object.fromEntries(Object.keys(optional).map((name) => [name, null]));
    expect((await send("PATCH", "/details", cleared)).statusCode).toBe(200);
    expect(new Set(received()?.answers?.["cleared"] as string[])).toEqual(new Set(Object.keys(optional)));
  });

  test("PATCH onboarding/details sends no field to the clients service for an empty object", async () => {
    expect((await send("PATCH", "/details", {})).statusCode).toBe(200);
    const { $typeName: _, ...fields } = received()?.answers ?? {};
    expect(fields).toEqual({ accountPurposes: [], cleared: [] });
  });

  test("PATCH onboarding/details lists the missing fields when the client has no details", async () => {
    gateway.behaviour.onboarding.updateOnboardingDetails = refuse("invalid", "onboarding_details_incomplete", {
      missing: "occupation,source_of_funds",
    });
    const response = await send("PATCH", "/details", { is_us_person: true });
    expect([response.statusCode, response.json().code]).toEqual([422, "validation_failed"]);
    expect(response.json().errors.map((error: { pointer: string }) => error.pointer)).toEqual([
      "/occupation",
      "/source_of_funds",
    ]);
  });

  test("PATCH onboarding/details returns 409 with the current step when the verification has begun", async () => {
    const members = { current_step: "KYC_PROCESSING" };
    gateway.behaviour.onboarding.updateOnboardingDetails = refuse("conflict", "onboarding_locked", members);
    expect((await send("PATCH", "/details", {})).json()).toMatchObject({ status: 409, code: "onboarding_locked", ...members });
  });
});

describe("GET onboarding/details", () => {
  test("GET onboarding/details returns the details", async () => {
    const response = await send("GET", "/details");
    expect([response.statusCode, response.json()]).toEqual([200, expectedJson]);
  });

  test("GET onboarding/details returns 404 when the client has no details", async () => {
    gateway.behaviour.onboarding.getOnboardingDetails = refuse("not_found", "onboarding_details_not_found");
    expect((await send("GET", "/details")).json()).toMatchObject({ status: 404, code: "onboarding_details_not_found" });
  });
});

describe("GET onboarding/status", () => {
  test("GET onboarding/status returns the status", async () => {
    const response = await send("GET", "/status");
    expect([response.statusCode, response.json()]).toEqual([200, statusJson]);
  });

  test("GET onboarding/status returns the name of each step, KYC status and overall status", async () => {
    const statusJsonWith = async (fields: object) => {
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
      expect(await statusJsonWith({ currentStep: OnboardingStep[step] })).toMatchObject({ current_step: step });
    for (const value of ["NOT_STARTED", "CREATED", "PROCESSING", "PENDING_REVIEW", "VALIDATED", "DECLINED", "ABORTED"] as const)
      expect(await statusJsonWith({ kycStatus: ClientKycStatus[value] })).toMatchObject({ kyc_status: value });
    for (const value of ["IN_PROGRESS", "UNDER_REVIEW", "DECLINED", "APPROVED"] as const)
      expect(await statusJsonWith({ overallStatus: OverallStatus[value] })).toMatchObject({ overall_status: value });
  });
});

describe("kyc_link", () => {
  const openApplication = { kycApplicationId, kycApplicationOpen: true };
  const application = { id: kycApplicationId, status: KycStatus.OPENED, linkUrl: link, attemptsRemaining: 2 };
  const readViews = async () => {
    gateway.behaviour.onboarding.getOnboarding = async () => ({ ...status, ...openApplication });
    gateway.behaviour.onboarding.getOnboardingDetails = async () => ({ ...message, ...openApplication });
    return [(await send("GET", "/status")).json(), (await send("GET", "/details")).json()];
  };

  test("GET onboarding/status and /details return kyc_link while the application is not final", async () => {
    gateway.behaviour.kycApplications.getKycApplication = async () => application;
    for (const view of await readViews()) expect(view).toMatchObject({ kyc_application_id: kycApplicationId, kyc_link: link });
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

  test("GET onboarding/status does not query kyc for a final application", async () => {
    const finalApplication = { kycApplicationId, kycApplicationOpen: false };
    gateway.behaviour.onboarding.getOnboarding = async () => ({ ...status, ...finalApplication });
    expect((await send("GET", "/status")).json()).toEqual({ ...statusJson, kyc_application_id: kycApplicationId });
    expect(gateway.received.map(({ rpc }) => rpc)).toEqual(["GetOnboarding"]);
  });

  test.each([
    { status: KycStatus.COMPLETED },
    { status: KycStatus.EXPIRED },
    { status: KycStatus.CANCELED },
    { status: KycStatus.FAILED, attemptsRemaining: 0 },
  ])(
    "GET onboarding/status and /details omit kyc_link if kyc returns an application that has just become final: %j",
    async (fields) => {
      gateway.behaviour.kycApplications.getKycApplication = async () => ({ ...application, ...fields });
      for (const view of await readViews()) expect(view).not.toHaveProperty("kyc_link");
    },
  );

  test("GET onboarding/status and /details return no kyc_link if kyc does not respond", async () => {
    gateway.behaviour.kycApplications.getKycApplication = async () => {
      throw new DomainError("unavailable", "service_unavailable", "The service is unavailable.");
    };
    for (const view of await readViews()) {
      expect(view).toMatchObject({ id, kyc_application_id: kycApplicationId });
      expect(view).not.toHaveProperty("kyc_link");
    }
  });
});

describe.each(["approve", "decline"] as const)("POST onboarding/%s", (verb) => {
  const expectedDecision = verb === "approve" ? OnboardingDecision.APPROVED : OnboardingDecision.DECLINED;
  const post = (payload?: object, headers = gateway.admin.headers) => send("POST", `/${verb}`, payload, headers);

  test(`POST onboarding/${verb} returns the onboarding status to an operator, for a request with no body or an empty object`, async () => {
    gateway.behaviour.onboarding.decideOnboarding = async () => status;
    for (const payload of [undefined, {}]) {
      const response = await post(payload);
      expect([response.statusCode, response.json()]).toEqual([200, statusJson]);
    }
    expect(gateway.received[0]).toMatchObject({
      request: { clientId, decision: expectedDecision },
      call: { caller: { role: "admin" } },
    });
  });

  test(`POST onboarding/${verb} sends the reason to the clients service, and rejects an invalid reason`, async () => {
    gateway.behaviour.onboarding.decideOnboarding = async () => status;
    await post({ reason: "Sanctions list" });
    expect(received()).toMatchObject({ decision: expectedDecision, reason: "Sanctions list" });
    for (const reason of ["", 7, null, "a".repeat(1_001)]) {
      expect([reason, (await post({ reason })).statusCode]).toEqual([reason, 422]);
    }
  });

  test(`POST onboarding/${verb} rejects the key of a business`, async () => {
    expect((await post({}, gateway.business.headers)).json()).toMatchObject({ status: 403, code: "admin_required" });
    expect(gateway.received).toEqual([]);
  });

  test(`POST onboarding/${verb} returns 409 with the current step when the onboarding is at another step`, async () => {
    gateway.behaviour.onboarding.decideOnboarding = refuse("conflict", "invalid_status_transition", {
      current_step: "KYC_PENDING",
    });
    expect((await post()).json()).toMatchObject({ status: 409, code: "invalid_status_transition", current_step: "KYC_PENDING" });
  });

  test(`POST onboarding/${verb} rejects unknown fields`, async () => {
    expect((await post({ note: "x" })).json().errors).toEqual([expect.objectContaining({ pointer: "/note" })]);
  });
});

test.each(["/details", "/status"])("GET onboarding%s returns 404 for a malformed client id", async (path) => {
  const response = await gateway.app.inject({
    method: "GET",
    url: `/api/v1/clients/nonsense/onboarding${path}`,
    headers: gateway.business.headers,
  });
  expect([response.statusCode, response.json().code]).toEqual([404, "not_found"]);
});
