import { actOnApplication } from "@amana/dev-env/demo/sandbox-control";
import { waitUntil } from "@amana/dev-env/eventually";
import type { KycProvider } from "@amana/dev-env/services";
import type { TestBusiness, TestSystem } from "@amana/e2e/test-system";
import type { Pool } from "pg";
import { createRepeater } from "../matrix/repeat-request.ts";
import type { Random } from "../random.ts";
import type { Report } from "../report.ts";
import { drawResponse, drawTerms, type ProviderResponse } from "./provider-response.ts";

export const applicationsPath = "/api/v1/kyc/applications";
const waitMsMax = 120_000;

export interface ApplicationContext {
  readonly testSystem: TestSystem;
  readonly kycProvider: KycProvider;
  readonly business: TestBusiness;
  readonly report: Report;
  /** Connection to identity, which stores the audit trail. */
  readonly identity: Pool;
}

/** An application under test. */
export interface TestedApplication {
  readonly context: ApplicationContext;
  readonly id: string;
  readonly response: ProviderResponse;
  /** Simulates an action of the applicant or the provider on the link. */
  act(action: string, body: object): Promise<void>;
  /** Sends a POST request with one Idempotency-Key until it succeeds. */
  readonly repeat: ReturnType<typeof createRepeater>;
  /** Reads the application with the public API. Repeats a request that fails. */
  read(): Promise<Readonly<Record<string, unknown>>>;
  /** Waits for the first webhook of this application that has one of these types. */
  waitForWebhook(...types: string[]): Promise<Readonly<Record<string, unknown>> | undefined>;
  /** Returns a function that returns the text of a violation. */
  details(problem: string): () => string;
}

/**
 * Creates an application with random conditions and draws the provider's response for it. If the
 * creation is rejected, records a violation and returns undefined.
 */
export async function createApplication(context: ApplicationContext, random: Random): Promise<TestedApplication | undefined> {
  const { business, kycProvider, report, testSystem } = context;
  const terms = drawTerms(random, kycProvider);
  const response = drawResponse(random, terms, kycProvider);
  const { gatewayUrl, sandboxUrl } = testSystem.system;
  const repeat = createRepeater({ gatewayUrl: () => gatewayUrl, signal: AbortSignal.timeout(waitMsMax) });
  const body = { require_video: terms.requireVideo, allowed_documents: terms.allowedDocuments };
  let rejection = "no response in time";
  const created = await repeat(business.key, applicationsPath, body, ({ status, text }) => {
    rejection = `${status}: ${text}`;
    return status === 201 || status === 422;
  });
  if (!created?.["id"] || !created["link_url"]) {
    report.violation(`a creation returned ${rejection}`);
    return undefined;
  }
  const id = String(created["id"]);
  return {
    ...{ context, id, response, repeat },
    act: (action, actionBody) => actOnApplication(sandboxUrl, String(created["link_url"]), action, actionBody),
    async read() {
      let view: Readonly<Record<string, unknown>> = {};
      await waitUntil(async () => {
        const answer = await business.call("GET", `${applicationsPath}/${id}`).catch(() => undefined);
        if (answer?.status === 200) view = answer.body;
        return answer?.status === 200;
      }, waitMsMax);
      return view;
    },
    async waitForWebhook(...types) {
      const find = () =>
        business.receiver.received.find(({ event, body: { application_id } }) => types.includes(event) && application_id === id);
      await waitUntil(() => find() !== undefined, waitMsMax);
      return find()?.body;
    },
    details: (problem) => () => `${JSON.stringify({ id, ...terms, ...response })} ${problem}`,
  };
}
