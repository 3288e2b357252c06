import { apiCaller } from "@amana/dev-env/demo/api";
import { actOnApplication } from "@amana/dev-env/demo/sandbox-control";
import { waitUntil } from "@amana/dev-env/eventually";
import type { KycProvider } from "@amana/dev-env/services";
import { callSandbox } from "@amana/e2e/test-system";
import { waitForCallbacks } from "../provider-view.ts";
import { call, type SecretsContext } from "./send-canaries.ts";
import { readPersonalTexts } from "./vendor-responses.ts";

const path = "/api/v1/kyc/applications";
/** The sandbox simulates the provider, so its log may contain the provider's personal data. */
const sandboxLog = "log: sandbox.log";
const timesMax = 10_000;
const waitMsMax = 90_000;

/** Operations of the sandbox whose responses contain personal data. */
const operationsOf: Readonly<Record<KycProvider, readonly string[]>> = {
  port: ["kyc_create", "kyc_get", "kyc_cancel", "kyc_review"],
  didit: ["kyc_create", "kyc_get", "kyc_cancel", "kyc_review"],
  sumsub: ["kyc_create", "kyc_link", "kyc_get", "kyc_aml", "kyc_cancel", "kyc_review"],
};
const eventTypes: Readonly<Record<string, string>> = {
  APPROVED: "KYC_COMPLETED",
  REJECTED: "KYC_REJECTED",
  NEEDS_REVIEW: "KYC_NEEDS_REVIEW",
};

interface Application {
  readonly id: string;
  readonly link: string;
}

/**
 * Runs verifications with every possible end. Each response, error response and callback of the
 * provider contains canaries in personal fields. Some responses and callbacks are truncated, and
 * some callbacks have a wrong signature.
 */
export async function verifyWithPersonalData(context: SecretsContext): Promise<void> {
  const { system, kycProvider, report } = context;
  const operations = operationsOf[kycProvider];
  const setFault = (operation: string, mode: string, times = timesMax) =>
    callSandbox(system, "PUT", "/sandbox/faults", { operation, mode, times });
  const setLeaks = async () => {
    for (const operation of [...operations, "kyc_callback"]) {
      await setFault(operation, `leak:${createUnstoredText(context, `the provider's data in ${operation}`, sandboxLog)}`);
      report.count(`operations of ${kycProvider} with personal data`);
    }
  };

  await setLeaks();
  const approved = await submitAndWait(context, { outcome: "approved" });
  const hits = await submitAndWait(context, { outcome: "approved", aml_hit_count: 2 });
  await submitAndWait(context, { outcome: "rejected", reason_codes: ["DOCUMENT_TAMPERED", "FACE_MISMATCH", "LIVENESS_FAILED"] });
  const reviewed = await submitAndWait(context, { outcome: "needs_review", reason_codes: ["DUPLICATE", "AML_MATCH"] });
  await decide(context, reviewed, 200);
  await cancel(context, await createApplication(context), [200]);
  // Reverses a final verdict at the vendor, because the alert about it must not contain the
  // vendor's response.
  await act(context, approved, "reverse", { outcome: "rejected" });
  await waitForCallbacks(system, approved.id);

  for (const operation of operations) {
    await setFault(
      operation,
      `leak_error:${createUnstoredText(context, `the provider's data in an error of ${operation}`, sandboxLog)}`,
      1,
    );
    if (operation === "kyc_create" || operation === "kyc_link")
      await call(context, [502], "POST", path, createApplicant(context));
    else if (operation === "kyc_cancel") await cancel(context, await createApplication(context), [200, 502]);
    else if (operation === "kyc_review") {
      const application = await submitAndWait(context, { outcome: "needs_review", reason_codes: ["DUPLICATE"] });
      await decide(context, application, 502);
    } else await submitAndWait(context, { outcome: "approved" });
    report.count(`error responses of ${kycProvider} with personal data`);
  }

  await setFault("kyc_get", "truncated", 1);
  await setFault("kyc_callback", "truncated", 1);
  await submitAndWait(context, { outcome: "approved" });
  await setFault("kyc_callback", "bad_signature", 1);
  await submitAndWait(context, { outcome: "rejected" });

  await callSandbox(system, "DELETE", "/sandbox/faults");
  if (kycProvider !== "port") {
    // Adds the common prefix of all personal texts, because error responses and callbacks can
    // contain fields that the responses below do not contain.
    addUnstoredText(context, "any field of the vendor", "canary-", sandboxLog);
    const views = [approved, hits, reviewed].map(({ id }) => readPersonalTexts(system, kycProvider, id));
    const texts = new Set((await Promise.all(views)).flat());
    report.count(`personal fields of ${kycProvider}`, texts.size);
    for (const text of texts) addUnstoredText(context, `the vendor's field ${text}`, text, sandboxLog);
  }
}

/** Creates a canary that no file may contain. */
const createUnstoredText = (context: SecretsContext, name: string, ...allowed: string[]): string =>
  recordUnstoredText(context, context.canaries.createText(name, ...allowed));
const addUnstoredText = (context: SecretsContext, name: string, text: string, ...allowed: string[]): string =>
  recordUnstoredText(context, context.canaries.add(name, text, ...allowed));
function recordUnstoredText({ unstoredTexts }: SecretsContext, text: string): string {
  unstoredTexts.push(text);
  return text;
}

const createApplicant = (context: SecretsContext) => ({
  applicant_email: `${createUnstoredText(context, "an applicant's e-mail")}@example.dz`,
  applicant_phone: `+213${recordUnstoredText(context, context.canaries.createDigits("an applicant's phone number", 9))}`,
  redirect_url: `https://shop.example/${createUnstoredText(context, "a redirect_url")}`,
  profile: {
    first_name: createUnstoredText(context, "an applicant's first name"),
    last_name: createUnstoredText(context, "an applicant's last name"),
    birth_date: "1985-04-12",
  },
});

async function createApplication(context: SecretsContext): Promise<Application> {
  const { status, body, text } = await call(context, [201], "POST", path, createApplicant(context));
  if (status !== 201) throw new Error(`the creation of an application returned ${status}: ${text}`);
  return { id: String(body["id"]), link: String(body["link_url"]) };
}

const act = ({ system }: SecretsContext, { link }: Application, action: string, body: object) =>
  actOnApplication(system.sandboxUrl, link, action, body);

/** Submits a new application. Waits until the API and a webhook contain the verdict. */
async function submitAndWait(context: SecretsContext, submission: object): Promise<Application> {
  const { business, report } = context;
  const application = await createApplication(context);
  await act(context, application, "submit", submission);
  let verdict: string | undefined;
  await waitUntil(async () => {
    const { body } = await call(context, [200], "GET", `${path}/${application.id}`);
    verdict = body["verdict"] as string | undefined;
    return verdict !== undefined;
  }, waitMsMax);
  const webhook = await business.receiver.next(eventTypes[String(verdict)] ?? "", application.id, waitMsMax);
  report.check(
    "a verdict with personal data of the provider arrives",
    webhook !== undefined,
    () => `application ${application.id} has the verdict ${verdict}, and no webhook was delivered`,
  );
  await waitForCallbacks(context.system, application.id);
  return application;
}

async function decide({ system, operatorResponses, report }: SecretsContext, { id }: Application, expected: number) {
  const operator = apiCaller(system.gatewayUrl, system.adminKey);
  const response = await operator("POST", `${path}/${id}/review`, { outcome: "APPROVED", note: "Another person." });
  operatorResponses.push({ name: "response to operators", content: response.text });
  if (response.status !== expected) report.violation(`a decision returned ${response.status}: ${response.text}`);
}

const cancel = (context: SecretsContext, { id }: Application, expected: number[]) =>
  call(context, expected, "POST", `${path}/${id}/cancel`);
