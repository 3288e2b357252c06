import { eventually } from "../eventually.ts";
import { aPerson, someDetails } from "./a-person.ts";
import { submit } from "./at-the-sandbox.ts";
import type { Cast } from "./cast.ts";
import type { Story } from "./story.ts";

const account = { account_type: "CURRENT", account_name: "Compte courant", currency: "DZD", daily_limit: "50000.00" } as const;
const payee = { name: "Karim Haddad", iban: "DZ58 0002 1000 0111 3000 0005 70", country_code: "DZA" } as const;

/** A client from registration to an active account with a beneficiary. */
export async function onboardClient(story: Story, { business, operator, sandboxUrl }: Cast): Promise<void> {
  const { step, expect, expectAnswer, expectRefusal } = story;

  step("The business registers a client.");
  const client = await business.clients.createPerson({ ...aPerson, email: `amina.${Date.now()}@example.dz` });
  const registered = "she is on record, not verified yet, and her e-mail address is hers alone";
  expectAnswer(client, { kyc_status: "NOT_STARTED" }, registered);
  const { id } = client;
  const stepIs = async (wanted: string, what: string) => {
    const status = await eventually(async () => {
      const answer = await business.onboarding.getStatus(id);
      if (answer.current_step !== wanted) throw new Error(`${what}: still ${JSON.stringify(answer)}`);
      return answer;
    }, 15_000);
    expect(true, `${what}: ${wanted}, ${status.kyc_status}, ${status.overall_status}`);
    return status;
  };
  await stepIs("DETAILS_PENDING", "her onboarding begins");

  step("It writes down what the law wants to know.");
  await business.onboarding.createDetails(id, someDetails);
  expect(true, "details are there");
  await stepIs("KYC_PENDING", "her onboarding moved by itself");

  step("It opens an account for her, which has to wait.");
  const opened = await business.accounts.open({ client_id: id, ...account });
  const waiting = `account ${opened.account_number} is PENDING and empty`;
  expectAnswer(opened, { status: "PENDING", current_balance: "0.00" }, waiting);
  const early = business.accounts.activate(opened.id);
  await expectRefusal(early, 409, "client_not_verified", "it cannot be activated: 409 client_not_verified");

  step("She is verified.");
  const { link_url: link } = await business.kycApplications.create({ client_id: id });
  expect(link !== "", "an application for her has a link");
  await eventually(async () => {
    const status = await business.onboarding.getStatus(id);
    if (status.kyc_link !== link) throw new Error(`The link is not in ${JSON.stringify(status)}.`);
  });
  expect(true, "her onboarding shows the link");
  await submit(sandboxUrl, link, { outcome: "approved" });
  const verified = await stepIs("PENDING_APPROVAL", "the verdict moved her on by itself");
  expect(verified.kyc_link === undefined, "the link is gone, now that it is used");

  step("An operator approves her.");
  const approved = await operator.onboarding.approve(id);
  expectAnswer(approved, { current_step: "APPROVED" }, "she is APPROVED; the trail says by whom");

  step("Her account is activated and gets somebody to pay.");
  const active = await business.accounts.activate(opened.id);
  expectAnswer(active, { status: "ACTIVE" }, "the account is ACTIVE");
  const beneficiary = await business.beneficiaries.create({ client_id: id, ...payee });
  const kept = "the beneficiary's IBAN is good and kept without its spaces";
  expectAnswer(beneficiary, { iban: "DZ580002100001113000000570" }, kept);
  const mistyped = business.beneficiaries.update(beneficiary.id, { iban: "DZ580002100001113000000571" });
  await expectRefusal(mistyped, 422, "validation_failed", "one wrong digit is refused with 422, and nothing changes");
}
