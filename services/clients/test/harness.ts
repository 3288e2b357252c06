import { AccountType } from "@amana/contracts/clients/v1/account_pb";
import { AccountService } from "@amana/contracts/clients/v1/account_service_pb";
import { BeneficiaryService } from "@amana/contracts/clients/v1/beneficiary_service_pb";
import { KycLevel } from "@amana/contracts/clients/v1/client_pb";
import { ClientService } from "@amana/contracts/clients/v1/client_service_pb";
import { type OnboardingAnswersSchema, OnboardingService } from "@amana/contracts/clients/v1/onboarding_service_pb";
import { type ActionRecorded, ActionRecordedSchema } from "@amana/contracts/identity/v1/audit_events_pb";
import { transaction } from "@amana/database";
import type { Message } from "@amana/messaging";
import { type CallOptions, createRpcClient } from "@amana/rpc";
import { uuidv7 } from "@amana/runtime";
import { startTestService } from "@amana/service-host/testing";
import { aBusinessCaller, eventually, forAllTenants } from "@amana/testing";
import { fromBinary, type MessageInitShape } from "@bufbuild/protobuf";
import { clients as clientsService } from "../src/service.ts";

export type Harness = Awaited<ReturnType<typeof startHarness>>;
export type Person = MessageInitShape<typeof ClientService.method.createPerson.input>;

/** Returns a request for a new adult client with a unique e-mail address. */
export const aPerson = (changes: Person = {}): Person => ({
  firstName: "Amina",
  lastName: "Benali",
  dateOfBirth: "1990-05-17",
  gender: "female",
  birthCountry: "DZA",
  nationality: "DZA",
  countryOfTaxResidence: "DZA",
  address: "12 rue Didouche Mourad",
  city: "Alger",
  postcode: "16000",
  countryCode: "DZA",
  email: `amina.${uuidv7()}@example.dz`,
  ...changes,
});

type NewBeneficiary = MessageInitShape<typeof BeneficiaryService.method.createBeneficiary.input>;
type NewAccount = MessageInitShape<typeof AccountService.method.openAccount.input>;

/** A request for a beneficiary, without the client id. */
export const aBeneficiary = { name: "Karim Haddad", iban: "DZ580002100001113000000570" } satisfies NewBeneficiary;

/** A request for an account, without the client id. */
export const anAccountRequest = { type: AccountType.CURRENT, accountName: "Household", currency: "DZD" } satisfies NewAccount;

export type Answers = MessageInitShape<typeof OnboardingAnswersSchema>;

/** Returns a request with complete onboarding details. */
export const aDetailsRequest = (changes: Answers = {}): { answers: Answers } => ({
  answers: {
    accountPurposes: ["SALARY", "SAVINGS"],
    expectedMonthlyIncomingVolume: "BETWEEN1001_AND5000",
    expectedMonthlyOutgoingVolume: "LESS_THAN1000",
    isUsPerson: false,
    occupation: "ENGINEER",
    occupationSector: "INFORMATIONAL_TECHNOLOGIES",
    sourceOfFunds: "SAVINGS_FROM_SALARY",
    ...changes,
  },
});

/** Starts the clients service with its own database. RPCs use real connections. */
export async function startHarness(options: { autoApprove?: boolean } = {}) {
  const clock = { nowMs: undefined as number | undefined, now: () => new Date(clock.nowMs ?? Date.now()) };
  const service = await startTestService(clientsService, {
    clock,
    settings: {
      ONBOARDING_AUTO_APPROVE: String(options.autoApprove ?? false),
      ACCOUNT_BANK_CODE: "007",
      ACCOUNT_BRANCH_CODE: "99999",
    },
  });
  const { channel, sql } = service;
  const clients = createRpcClient(ClientService, channel);
  const beneficiaries = createRpcClient(BeneficiaryService, channel);
  const accounts = createRpcClient(AccountService, channel);

  return {
    ...service,
    clock,
    clients,
    onboarding: createRpcClient(OnboardingService, channel),
    beneficiaries,
    accounts,
    /** Runs a transaction in the service's database with access to the rows of all tenants. */
    transaction: <T>(work: Parameters<typeof transaction<T>>[1]) => forAllTenants(transaction<T>)(service.context.orm, work),
    /** Creates a client of a business. */
    createPerson: (caller: CallOptions["caller"] = aBusinessCaller(), changes: Person = {}) =>
      clients.createPerson(aPerson(changes), { caller }),
    /** Creates a beneficiary. By default, also creates its client. */
    async createBeneficiary(caller: CallOptions["caller"], changes: NewBeneficiary = {}) {
      const clientId = changes.clientId ?? (await clients.createPerson(aPerson(), { caller })).id;
      return await beneficiaries.createBeneficiary({ ...aBeneficiary, clientId, ...changes }, { caller });
    },
    /** Opens a PENDING account. By default, also creates its client. */
    async openAccount(caller: CallOptions["caller"], changes: NewAccount = {}) {
      const clientId = changes.clientId ?? (await clients.createPerson(aPerson(), { caller })).id;
      return await accounts.openAccount({ ...anAccountRequest, clientId, ...changes }, { caller });
    },
    async anActiveAccount(caller: CallOptions["caller"], changes: NewAccount = {}) {
      const { id: clientId } = await clients.createPerson(aPerson({ kycLevel: KycLevel.NOT_REQUIRED }), { caller });
      const { id } = await accounts.openAccount({ ...anAccountRequest, clientId, ...changes }, { caller });
      return await accounts.activateAccount({ id }, { caller });
    },
    /** Resolves when at least `sessions` database sessions wait for locks. */
    async waitForLockedSessions(sessions = 1) {
      await eventually(async () => {
        const waitingSessions = await sql(
          "select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
        );
        if (waitingSessions.length < sessions) throw new Error(`only ${waitingSessions.length} sessions wait for locks`);
      });
    },
    /** Publishes messages, and resolves after the consumer has committed them. */
    publish: (...messages: Message[]) => service.publish("kyc.v1", ...messages),
    /** Returns the audit events about an entity in the order of their emission. */
    async readAuditEvents(id: string): Promise<ActionRecorded[]> {
      const rows = await sql<{ payload: Buffer }>("select payload from outbox where topic = 'audit.v1' and key = ? order by id", [
        id,
      ]);
      return rows.map(({ payload }) => fromBinary(ActionRecordedSchema, payload));
    },
  };
}
