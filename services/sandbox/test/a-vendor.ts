import { createHmac } from "node:crypto";
import type { Json } from "./a-sandbox.ts";
import { aNewReference, type ProviderResponse } from "./a-verification.ts";

export const workflowId = "11111111-1111-4111-8111-111111111111";
export const workflowIdStill = "22222222-2222-4222-8222-222222222222";

export interface VendorResponse extends ProviderResponse {
  readonly headers: Headers;
}

async function send(url: string, init: RequestInit): Promise<VendorResponse> {
  const response = await fetch(url, init);
  const content = await response.text();
  return { status: response.status, headers: response.headers, body: content === "" ? undefined : JSON.parse(content) };
}

/** Calls Didit's API. `path` is relative to /didit. */
export const callDidit = (url: string, method: string, path: string, body?: object, key = "sandbox") =>
  send(`${url}/didit${path}`, {
    method,
    headers: { "x-api-key": key, ...(body && { "content-type": "application/json" }) },
    ...(body && { body: JSON.stringify(body) }),
  });

/** Returns the body of a valid session creation. */
export const aSessionCreation = (changes: Record<string, unknown> = {}) => ({
  workflow_id: workflowId,
  vendor_data: aNewReference(),
  language: "en",
  expected_details: { expected_document_types: ["P", "ID"] },
  ...changes,
});

export interface VendorVerification {
  readonly id: string;
  readonly reference: string;
  /** The last path segment of the link. */
  readonly token: string;
}

const tokenOf = (link: string) => new URL(link).pathname.split("/").at(-1) ?? "";

export async function aSession(url: string, changes: Record<string, unknown> = {}): Promise<VendorVerification> {
  const { status, body } = await callDidit(url, "POST", "/v3/session/", aSessionCreation(changes));
  if (status !== 201) throw new Error(`the creation returned status ${status}: ${JSON.stringify(body)}`);
  return { id: body.session_id, reference: body.vendor_data, token: tokenOf(body.url) };
}

export const decisionAt = async (url: string, id: string): Promise<Json> =>
  (await callDidit(url, "GET", `/v3/session/${id}/decision/`)).body;

/** Parts of a signed request to Sumsub that a test can replace with wrong values. */
export interface Signing {
  readonly token?: string;
  readonly secret?: string;
  readonly seconds?: number;
  /** Path that the signature covers. Default: the path as sent. */
  readonly signedPath?: string;
  readonly signedBody?: string;
}

/**
 * Calls Sumsub's API with a signature according to its specification. `path` is relative to
 * /sumsub.
 */
export function callSumsub(url: string, method: string, path: string, body?: object, signing: Signing = {}) {
  const content = body ? JSON.stringify(body) : "";
  const { seconds = Math.floor(Date.now() / 1000), secret = "sandbox", token = "sbx:sandbox" } = signing;
  const { signedPath = `/sumsub${path}`, signedBody = content } = signing;
  const signature = createHmac("sha256", secret).update(`${seconds}${method}${signedPath}`).update(signedBody).digest("hex");
  return send(`${url}/sumsub${path}`, {
    method,
    headers: {
      "content-type": "application/json",
      "x-app-token": token,
      "x-app-access-ts": String(seconds),
      "x-app-access-sig": signature,
    },
    ...(content && { body: content }),
  });
}

const creationPath = (level: string) => `/resources/applicants?levelName=${encodeURIComponent(level)}`;

export const createApplicant = (url: string, body: object, level = "amana") => callSumsub(url, "POST", creationPath(level), body);

export const createLink = (url: string, userId: string, changes: Record<string, unknown> = {}) =>
  callSumsub(url, "POST", "/resources/sdkIntegrations/levels/-/websdkLink?lang=en", {
    levelName: "amana",
    userId,
    ttlInSecs: 3600,
    ...changes,
  });

/** Creates an applicant with a link. */
export async function anApplicant(
  url: string,
  changes: Record<string, unknown> = {},
  level = "amana",
): Promise<VendorVerification> {
  const creation = { externalUserId: aNewReference(), lang: "en", ...changes };
  const { status, body } = await createApplicant(url, creation, level);
  if (status !== 201) throw new Error(`the creation returned status ${status}: ${JSON.stringify(body)}`);
  const link = await createLink(url, creation.externalUserId, { levelName: level });
  return { id: body.id, reference: creation.externalUserId, token: tokenOf(link.body.url) };
}

export const applicantAt = async (url: string, id: string): Promise<Json> =>
  (await callSumsub(url, "GET", `/resources/applicants/${id}/one`)).body;

export const stepsAt = async (url: string, id: string): Promise<Json> =>
  (await callSumsub(url, "GET", `/resources/applicants/${id}/requiredIdDocsStatus`)).body;

export const amlCaseAt = (url: string, id: string) => callSumsub(url, "GET", `/resources/api/applicants/${id}/amlCase`);
