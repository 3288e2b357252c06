import { control, type Json } from "./a-sandbox.ts";

let lastReference = 0;

export const aNewReference = () => `reference-${process.pid}-${++lastReference}`;

export interface ProviderResponse {
  readonly status: number;
  readonly body: Json;
}

export async function callProvider(
  url: string,
  method: string,
  path: string,
  body?: object,
  options: { token?: string; signal?: AbortSignal } = {},
): Promise<ProviderResponse> {
  const response = await fetch(`${url}/v1/${path}`, {
    method,
    headers: {
      authorization: `Bearer ${options.token ?? "sandbox"}`,
      ...(body && { "content-type": "application/json" }),
    },
    ...(body && { body: JSON.stringify(body) }),
    ...(options.signal && { signal: options.signal }),
  });
  return { status: response.status, body: await response.json() };
}

/**
 * Returns the body of a valid POST /applications request. No server listens at its callback URL.
 */
export const aCreation = (changes: Record<string, unknown> = {}) => ({
  reference: aNewReference(),
  locale: "en",
  callback_url: "http://127.0.0.1:9/callbacks/kyc",
  ...changes,
});

export interface Verification {
  readonly providerId: string;
  readonly reference: string;
  readonly linkUrl: string;
  /** The last path segment of the link. */
  readonly token: string;
}

export async function aVerification(url: string, changes: Record<string, unknown> = {}): Promise<Verification> {
  const { status, body } = await callProvider(url, "POST", "applications", aCreation(changes));
  if (status !== 201) throw new Error(`POST /applications returned status ${status}: ${JSON.stringify(body)}`);
  return {
    providerId: body.provider_id,
    reference: body.reference,
    linkUrl: body.link_url,
    token: new URL(body.link_url).pathname.split("/").at(-1) ?? "",
  };
}

export const kycControl = (url: string, token: string, call: string, body?: object) =>
  control(url, "POST", `kyc/${token}/${call}`, body);

export const objectAt = async (url: string, providerId: string): Promise<Json> =>
  (await callProvider(url, "GET", `applications/${providerId}`)).body;
