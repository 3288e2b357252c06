import { eventually } from "../eventually.ts";
import { aPerson, someDetails } from "./a-person.ts";
import { submit } from "./at-the-sandbox.ts";
import type { Cast } from "./cast.ts";
import type { Story } from "./story.ts";

const account = { account_type: "CURRENT", account_name: "Compte courant", currency: "DZD", daily_limit: "50000.00" };
const payee = { name: "Karim Haddad", iban: "DZ58 0002 1000 0111 3000 0005 70", country_code: "DZA" };

/** A client from registration to an active account with a beneficiary. */
export async function onboardClient(story: Story, { business, operator, sandboxUrl }: Cast): Promise<void> {
  const { step, expect, expectAnswer } = story;

  step("The business registers a client.");
  const client = await business("POST", "/api/v1/clients/person", { ...aPerson, email: `amina.${Date.now()}@example.dz` });
  const registered = "she is on record, not verified yet, and her e-mail address is hers alone";
  expectAnswer(client, 201, { kyc_status: "NOT_STARTED" }, registered);
  const id = String(client.body["id"]);
  const onboarding = `/api/v1/clients/${id}/onboarding`;
  const stepIs = async (wanted: string, what: string) => {
    const status = await eventually(async () => {
      const answer = await business("GET", `${onboarding}/status`);
      if (answer.body["current_step"] !== wanted) throw new Error(`${what}: still ${JSON.stringify(answer.body)}`);
      return answer;
    }, 15_000);
    expect(true, `${what}: ${wanted}, ${String(status.body["kyc_status"])}, ${String(status.body["overall_status"])}`);
    return status;
  };
  await stepIs("DETAILS_PENDING", "her onboarding begins");

  step("It writes down what the law wants to know.");
  const written = await business("POST", `${onboarding}/details`, someDetails);
  expectAnswer(written, 201, {}, "details are there");
  await stepIs("KYC_PENDING", "her onboarding moved by itself");

  step("It opens an account for her, which has to wait.");
  const opened = await business("POST", "/api/v1/accounts", { client_id: id, ...account });
  const accountId = String(opened.body["id"]);
  const waiting = `account ${String(opened.body["account_number"])} is PENDING and empty`;
  expectAnswer(opened, 201, { status: "PENDING", current_balance: "0.00" }, waiting);
  const early = await business("POST", `/api/v1/accounts/${accountId}/activate`);
  expectAnswer(early, 409, { code: "client_not_verified" }, "it cannot be activated: 409 client_not_verified");

  step("She is verified.");
  const application = await business("POST", "/api/v1/kyc/applications", { client_id: id });
  expectAnswer(application, 201, {}, "an application for her has a link");
  const link = String(application.body["link_url"]);
  await eventually(async () => {
    const { body } = await business("GET", `${onboarding}/status`);
    if (body["kyc_link"] !== link) throw new Error(`The link is not in ${JSON.stringify(body)}.`);
  });
  expect(true, "her onboarding shows the link");
  await submit(sandboxUrl, link, { outcome: "approved" });
  const verified = await stepIs("PENDING_APPROVAL", "the verdict moved her on by itself");
  expect(verified.body["kyc_link"] === undefined, "the link is gone, now that it is used");

  step("An operator approves her.");
  const approved = await operator("POST", `${onboarding}/approve`);
  expectAnswer(approved, 200, { current_step: "APPROVED" }, "she is APPROVED; the trail says by whom");

  step("Her account is activated and gets somebody to pay.");
  const active = await business("POST", `/api/v1/accounts/${accountId}/activate`);
  expectAnswer(active, 200, { status: "ACTIVE" }, "the account is ACTIVE");
  const beneficiary = await business("POST", "/api/v1/beneficiaries", { client_id: id, ...payee });
  const kept = "the beneficiary's IBAN is good and kept without its spaces";
  expectAnswer(beneficiary, 201, { iban: "DZ580002100001113000000570" }, kept);
  const mistyped = await business("PUT", `/api/v1/beneficiaries/${String(beneficiary.body["id"])}`, {
    iban: "DZ580002100001113000000571",
  });
  expectAnswer(mistyped, 422, {}, "one wrong digit is refused with 422, and nothing changes");
}
