import { eventually } from "../eventually.ts";
import { aPerson, someDetails } from "./a-person.ts";
import type { Participants } from "./participants.ts";
import type { Reporter } from "./reporter.ts";
import { submitApplication } from "./sandbox-control.ts";

const account = { account_type: "CURRENT", account_name: "Compte courant", currency: "DZD", daily_limit: "50000.00" } as const;
const payee = { name: "Karim Haddad", iban: "DZ58 0002 1000 0111 3000 0005 70", country_code: "DZA" } as const;

/** Onboards a client, from registration to an active account with a beneficiary. */
export async function onboardClient(reporter: Reporter, { business, operator, sandboxUrl }: Participants): Promise<void> {
  const { step, expect, expectFields, expectProblem } = reporter;

  step("The business registers a client.");
  const client = await business.clients.createPerson({ ...aPerson, email: `amina.${Date.now()}@example.dz` });
  const registeredText = "the client is registered and not verified";
  expectFields(client, { kyc_status: "NOT_STARTED" }, registeredText);
  const { id } = client;
  const expectStep = async (expectedStep: string, description: string) => {
    const status = await eventually(async () => {
      const status = await business.onboarding.getStatus(id);
      if (status.current_step !== expectedStep)
        throw new Error(`${description}: expected ${expectedStep}, got ${JSON.stringify(status)}`);
      return status;
    }, 15_000);
    expect(true, `${description}: ${expectedStep}, ${status.kyc_status}, ${status.overall_status}`);
    return status;
  };
  await expectStep("DETAILS_PENDING", "the onboarding has started");

  step("The business stores the onboarding details of the client.");
  await business.onboarding.createDetails(id, someDetails);
  expect(true, "the details are stored");
  await expectStep("KYC_PENDING", "the onboarding is at the next step");

  step("The business opens an account for the client.");
  const opened = await business.accounts.open({ client_id: id, ...account });
  const pendingText = `account ${opened.account_number} is PENDING, with the balance 0.00`;
  expectFields(opened, { status: "PENDING", current_balance: "0.00" }, pendingText);
  const earlyActivation = business.accounts.activate(opened.id);
  await expectProblem(earlyActivation, 409, "client_not_verified", "activation returns 409 client_not_verified");

  step("The client is verified.");
  const { link_url: link } = await business.kycApplications.create({ client_id: id });
  expect(link !== "", "the client's KYC application has a link");
  await eventually(async () => {
    const status = await business.onboarding.getStatus(id);
    if (status.kyc_link !== link) throw new Error(`The onboarding status has no link: ${JSON.stringify(status)}`);
  });
  expect(true, "the onboarding status contains the link");
  await submitApplication(sandboxUrl, link, { outcome: "approved" });
  const verified = await expectStep("PENDING_APPROVAL", "the verdict moved the onboarding to the next step");
  expect(verified.kyc_link === undefined, "the onboarding status no longer contains the used link");

  step("An operator approves the client.");
  const approved = await operator.onboarding.approve(id);
  expectFields(approved, { current_step: "APPROVED" }, "the client is APPROVED; the audit trail contains the operator");

  step("The business activates the account and adds a beneficiary.");
  const active = await business.accounts.activate(opened.id);
  expectFields(active, { status: "ACTIVE" }, "the account is ACTIVE");
  const beneficiary = await business.beneficiaries.create({ client_id: id, ...payee });
  const ibanText = "the beneficiary's IBAN is valid and stored without spaces";
  expectFields(beneficiary, { iban: "DZ580002100001113000000570" }, ibanText);
  const mistypedUpdate = business.beneficiaries.update(beneficiary.id, { iban: "DZ580002100001113000000571" });
  await expectProblem(mistypedUpdate, 422, "validation_failed", "an IBAN with a wrong digit returns 422 and changes nothing");
}
