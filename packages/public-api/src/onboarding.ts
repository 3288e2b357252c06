import {
  OnboardingDetailsSchema,
  OnboardingSchema,
  OnboardingStep,
  OverallStatus,
} from "@amana/contracts/clients/v1/onboarding_pb";
import { enumNames } from "@amana/contracts/enum-names";
import { Type } from "typebox";
import { clientKycStatuses } from "./client.ts";
import { createRenderer } from "./renderer.ts";

const splitWords = (list: string): string[] => list.trim().split(/\s+/);

export const accountPurposes = splitWords(`
  PAY_BILLS MONEY_TO_FROM_FAMILY DIVIDENDS SAVINGS PERSONAL_BUSINESS_PURPOSES PENSION CRYPTO SALARY LOTTERY_GAMING
  RECONCILIATION VIRTUAL_ACCOUNT CURRENCY_EXCHANGE OTHER`);

export const monthlyVolumes = splitWords(`
  LESS_THAN1000 BETWEEN1001_AND5000 BETWEEN5001_AND10000 BETWEEN10001_AND15000 BETWEEN15001_AND30000
  BETWEEN30001_AND60000 MORE_THAN60001`);

export const occupations = splitWords(`
  BUSINESS_OWNER CLERGY CRAFTSMAN ENGINEER EXECUTIVE FARMER FREELANCE LIBERAL_PROFESSION POLITICIAN PROFESSOR
  PUBLIC_SERVANT RETIRED SHOPKEEPER STUDENT UNEMPLOYED WORKER OTHER`);

export const occupationSectors = splitWords(`
  ACCOUNTING_AUDIT E_MONEY_SERVICES CURRENCY_EXCHANGE TRADES_ON_OTC_MARKET PRECIOUS_METALS_OR_STONES PAWNSHOPS
  CROSS_BORDER_CASH_OR_PRECIOUS_MATERIALS MINING_EXTRACTIVE_INDUSTRIES ENERGY TRADE_IN_PETROL_PRODUCTS
  TRADE_IN_MEDICINES REAL_ESTATE CONSTRUCTION_REPAIR CONSULTANCY_LEGAL FREELANCE NON_PROFIT_LEGAL_ENTITIES
  CRYPTOCURRENCIES GAMING GAMBLING EU_FUNDS_UTILIZATION ADULT HIGH_VALUE_ASSET_DEALER BANKING_LENDING
  INSURANCE_SECURITY TRANSPORTATION_AND_LOGISTICS MANUFACTURING UTILITIES_AND_INFRASTRUCTURE TRADE_IN_FOOD_PRODUCT
  WHOLESALE REPAIR_OF_MOTOR_VEHICLES SOCIAL_WORK_ACTIVITIES AUTO_AVIATION COURIER_POST_SERVICES
  AGRICULTURE_FORESTRY_AND_FISHING OTHER_TRADE_AND_SALES TRAVEL_TOURISM INFORMATION_AND_COMMUNICATION PR_MARKETING
  EDUCATION INFORMATIONAL_TECHNOLOGIES PUBLIC_AND_DEFENCE_SECTOR HEALTH_CARE_MEDICAL_SERVICES ART_ENTERTAINMENT_SPORT
  ADMINISTRATIVE_OFFICE_BUSINESS_ACTIVITIES HOSPITALITY_AND_LEISURE SCIENTIFIC_AND_TECHNICAL_ACTIVITIES OTHER`);

export const sourcesOfFunds = splitWords(`
  COMPENSATION_PAYOUT COMPANY_PROFITS COMPANY_SALE DIVIDEND_PAYMENTS DIVORCE_SETTLEMENT FIXED_DEPOSITS GIFT
  INHERITANCE INSURANCE_PAYOUT LOAN LOTTERY_OR_GAMBLING_WIN RETIREMENT_INCOME SALE_OF_INVESTMENT SALE_OF_PROPERTY
  SAVINGS_FROM_SALARY OTHER`);

const optionalText = () => Type.Optional(Type.String());
const verification = () => ({
  kyc_application_id: Type.Optional(Type.String({ format: "uuid", description: "Newest KYC application of the client." })),
  kyc_link: Type.Optional(
    Type.String({ description: "Verification link of that application, while the applicant can use it. Treat it as a secret." }),
  ),
});

/** Schema of the onboarding details of a client. */
export const OnboardingDetailsJson = Type.Object({
  id: Type.String({ format: "uuid" }),
  account_purposes: Type.Array(Type.Enum(accountPurposes)),
  expected_monthly_incoming_volume: Type.Enum(monthlyVolumes),
  expected_monthly_outgoing_volume: Type.Enum(monthlyVolumes),
  is_us_person: Type.Boolean(),
  occupation: Type.Enum(occupations),
  other_occupation: optionalText(),
  occupation_sector: Type.Enum(occupationSectors),
  source_of_funds: Type.Enum(sourcesOfFunds),
  other_source_of_funds: optionalText(),
  funds_origin_country_id: Type.Optional(
    Type.Integer({ description: "Numeric country code (ISO 3166-1) without leading zeros.", examples: [12] }),
  ),
  tax_identification_number: optionalText(),
  ...verification(),
  created_at: Type.String({ format: "date-time" }),
  updated_at: Type.String({ format: "date-time" }),
});

/** Schema of the progress of a client's onboarding. */
export const OnboardingStatusJson = Type.Object({
  id: Type.String({ format: "uuid" }),
  client_id: Type.String({ format: "uuid" }),
  current_step: Type.Enum(enumNames(OnboardingStep)),
  kyc_status: Type.Enum(clientKycStatuses),
  overall_status: Type.Enum(enumNames(OverallStatus)),
  ...verification(),
  created_at: Type.String({ format: "date-time" }),
  updated_at: Type.String({ format: "date-time" }),
});

/** Returns a renderer that adds the link of the newest KYC application to a rendered message. */
const withLink =
  <Message, Json>(render: (message: Message) => Json) =>
  (message: Message, kycLink: string | undefined) => ({ ...render(message), kyc_link: kycLink });

export const renderOnboardingDetails = withLink(
  createRenderer(OnboardingDetailsSchema, Type.Omit(OnboardingDetailsJson, ["kyc_link"])),
);
export const renderOnboardingStatus = withLink(createRenderer(OnboardingSchema, Type.Omit(OnboardingStatusJson, ["kyc_link"])));
