import { ClientKycStatus } from "@amana/contracts/clients/v1/client_pb";
import {
  OnboardingDetailsSchema,
  OnboardingSchema,
  OnboardingStep,
  OverallStatus,
} from "@amana/contracts/clients/v1/onboarding_pb";
import { create } from "@bufbuild/protobuf";
import { describe, expect, test } from "vitest";
import {
  accountPurposes,
  monthlyVolumes,
  occupationSectors,
  occupations,
  renderOnboardingDetails,
  renderOnboardingStatus,
  sourcesOfFunds,
} from "./onboarding.ts";

const id = "019a0000-0000-7000-8000-000000000001";
const clientId = "019a0000-0000-7000-8000-000000000002";
const kycApplicationId = "019a0000-0000-7000-8000-000000000003";
const times = { createdAtMs: 1_795_170_000_000n, updatedAtMs: 1_795_170_000_001n };
const json = (view: object) => JSON.parse(JSON.stringify(view)) as Record<string, unknown>;

describe("renderOnboardingDetails", () => {
  const required = {
    id,
    clientId,
    accountPurposes: ["SALARY", "OTHER"],
    expectedMonthlyIncomingVolume: "BETWEEN1001_AND5000",
    expectedMonthlyOutgoingVolume: "MORE_THAN60001",
    isUsPerson: false,
    occupation: "ENGINEER",
    occupationSector: "GAMING",
    sourceOfFunds: "GIFT",
    ...times,
  };
  const optional = {
    fundsOriginCountryId: 12,
    kycApplicationId,
    otherOccupation: "Luthier",
    otherSourceOfFunds: "Mécénat",
    taxIdentificationNumber: "0999",
  };
  const renderRequired = () => json(renderOnboardingDetails(create(OnboardingDetailsSchema, required), undefined));
  const renderFullDetails = () =>
    json(renderOnboardingDetails(create(OnboardingDetailsSchema, { ...required, ...optional }), "https://v.example/x"));

  test.each([
    ["id", id],
    ["account_purposes", ["SALARY", "OTHER"]],
    ["expected_monthly_incoming_volume", "BETWEEN1001_AND5000"],
    ["expected_monthly_outgoing_volume", "MORE_THAN60001"],
    ["is_us_person", false],
    ["occupation", "ENGINEER"],
    ["occupation_sector", "GAMING"],
    ["source_of_funds", "GIFT"],
    ["created_at", "2026-11-20T10:20:00.000Z"],
    ["updated_at", "2026-11-20T10:20:00.001Z"],
  ])("renderOnboardingDetails renders the field %s", (name, value) => {
    expect(renderRequired()[name]).toEqual(value);
    expect(Object.keys(renderRequired())).toHaveLength(10);
  });

  test.each([
    ["funds_origin_country_id", 12],
    ["kyc_application_id", kycApplicationId],
    ["kyc_link", "https://v.example/x"],
    ["other_occupation", "Luthier"],
    ["other_source_of_funds", "Mécénat"],
    ["tax_identification_number", "0999"],
  ])("renderOnboardingDetails renders the field %s when it has a value, and omits the field otherwise", (name, value) => {
    expect(renderFullDetails()[name]).toBe(value);
    expect(Object.keys(renderFullDetails())).toHaveLength(16);
    expect(renderRequired()).not.toHaveProperty(name);
  });
});

describe("renderOnboardingStatus", () => {
  const required = {
    id,
    clientId,
    currentStep: OnboardingStep.PENDING_APPROVAL,
    kycStatus: ClientKycStatus.VALIDATED,
    overallStatus: OverallStatus.IN_PROGRESS,
    ...times,
  };
  const renderRequired = () => json(renderOnboardingStatus(create(OnboardingSchema, required), undefined));
  const renderFullStatus = () =>
    json(renderOnboardingStatus(create(OnboardingSchema, { ...required, kycApplicationId }), "https://v.example/x"));

  test.each([
    ["id", id],
    ["client_id", clientId],
    ["current_step", "PENDING_APPROVAL"],
    ["kyc_status", "VALIDATED"],
    ["overall_status", "IN_PROGRESS"],
    ["created_at", "2026-11-20T10:20:00.000Z"],
    ["updated_at", "2026-11-20T10:20:00.001Z"],
  ])("renderOnboardingStatus renders the field %s", (name, value) => {
    expect(renderRequired()[name]).toBe(value);
    expect(Object.keys(renderRequired())).toHaveLength(7);
  });

  test.each([
    ["kyc_application_id", kycApplicationId],
    ["kyc_link", "https://v.example/x"],
  ])("renderOnboardingStatus renders the field %s when it has a value, and omits the field otherwise", (name, value) => {
    expect(renderFullStatus()[name]).toBe(value);
    expect(renderRequired()).not.toHaveProperty(name);
  });
});

test.each([
  ["AccountPurpose", accountPurposes, 13],
  ["MonthlyVolume", monthlyVolumes, 7],
  ["Occupation", occupations, 17],
  ["OccupationSector", occupationSectors, 47],
  ["SourceOfFunds", sourcesOfFunds, 16],
] as const)("the public enum %s has unique values in upper case", (_name, values, count) => {
  expect(values).toHaveLength(count);
  expect(new Set(values).size).toBe(count);
  for (const value of values) expect(value).toMatch(/^[A-Z]+(\d+)?(_[A-Z]+\d*)*$/);
});
