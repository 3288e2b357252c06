import { ClientKycStatus, ClientSchema, KycLevel, RiskLevel } from "@amana/contracts/clients/v1/client_pb";
import { create } from "@bufbuild/protobuf";
import { describe, expect, test } from "vitest";
import { clientKycStatuses, kycLevels, renderClient, riskLevels } from "./client.ts";

const required = {
  id: "019a0000-0000-7000-8000-000000000001",
  firstName: "Amina",
  lastName: "Benali",
  dateOfBirth: "1990-05-17",
  gender: "female",
  birthCountry: "DZA",
  nationality: "FRA",
  countryOfTaxResidence: "TUN",
  address: "12 rue Didouche Mourad",
  city: "Alger",
  postcode: "16000",
  countryCode: "MAR",
  email: "amina@example.dz",
  blocked: true,
  isBlacklisted: true,
  kycLevel: KycLevel.DOC_ONLY,
  kycStatus: ClientKycStatus.VALIDATED,
  riskLevel: RiskLevel.HIGH,
  createdAtMs: 1_795_170_000_000n,
  updatedAtMs: 1_795_170_000_001n,
};
const optional = {
  middleName: "Lila",
  blacklistedComment: "Fraude",
  externalClientCode: "C-1",
  kycNote: "vu",
  mobilePhoneNumber: "+213550123456",
  plannedExpenditure: "1000",
  plannedIncome: "3000",
  secondEmail: "second@example.dz",
  secondMobilePhoneNumber: "+213660123456",
  stateProvince: "Alger",
};
const render = (fields: object) => renderClient(create(ClientSchema, fields), 7);
const json = (fields: object) => JSON.parse(JSON.stringify(render(fields))) as Record<string, unknown>;

describe("renderClient", () => {
  test.each([
    ["id", "019a0000-0000-7000-8000-000000000001"],
    ["organization_id", 7],
    ["first_name", "Amina"],
    ["last_name", "Benali"],
    ["date_of_birth", "1990-05-17"],
    ["gender", "female"],
    ["birth_country", "DZA"],
    ["nationality", "FRA"],
    ["country_of_tax_residence", "TUN"],
    ["address", "12 rue Didouche Mourad"],
    ["city", "Alger"],
    ["postcode", "16000"],
    ["country_code", "MAR"],
    ["email", "amina@example.dz"],
    ["blocked", true],
    ["is_blacklisted", true],
    ["kyc_level", "DOC_ONLY"],
    ["kyc_status", "VALIDATED"],
    ["risk_level", "High"],
    ["created_at", "2026-11-20T10:20:00.000Z"],
    ["updated_at", "2026-11-20T10:20:00.001Z"],
  ])("renderClient renders the field %s", (name, value) => {
    expect(json(required)[name]).toEqual(value);
    expect(Object.keys(json(required))).toHaveLength(21);
  });

  test.each([
    ["middle_name", "Lila"],
    ["blacklisted_comment", "Fraude"],
    ["external_client_code", "C-1"],
    ["kyc_note", "vu"],
    ["mobile_phone_number", "+213550123456"],
    ["planned_expenditure", "1000"],
    ["planned_income", "3000"],
    ["second_email", "second@example.dz"],
    ["second_mobile_phone_number", "+213660123456"],
    ["state_province", "Alger"],
  ])("renderClient renders the field %s when it has a value, and omits the field otherwise", (name, value) => {
    expect(json({ ...required, ...optional })[name]).toBe(value);
    expect(Object.keys(json({ ...required, ...optional }))).toHaveLength(31);
    expect(json(required)).not.toHaveProperty(name);
  });

  test("renderClient renders each value of kyc_status, kyc_level and risk_level", () => {
    for (const status of clientKycStatuses)
      expect(render({ ...required, kycStatus: ClientKycStatus[status] }).kyc_status).toBe(status);
    for (const level of kycLevels) expect(render({ ...required, kycLevel: KycLevel[level] }).kyc_level).toBe(level);
    for (const risk of riskLevels) {
      const riskLevel = RiskLevel[risk.toUpperCase() as Uppercase<typeof risk>];
      expect(render({ ...required, riskLevel }).risk_level).toBe(risk);
    }
    expect([clientKycStatuses.length, kycLevels.length, riskLevels.length]).toEqual([7, 3, 3]);
  });
});
