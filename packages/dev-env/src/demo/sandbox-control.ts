import { request } from "undici";

/** A card that the sandbox accepts. */
export const acceptedCard = { pan: "6280581110007215", expiry: "01/2027", cvv2: "373", password: "123456" };

type Method = "GET" | "POST" | "PUT" | "DELETE";

/**
 * Calls the control API of the sandbox, with a path below /sandbox/. Throws if the sandbox rejects
 * the call.
 */
export async function callSandboxControl<T>(sandboxUrl: string, method: Method, path: string, body?: object): Promise<T> {
  const response = await request(`${sandboxUrl}/sandbox/${path}`, {
    method,
    ...(body && { headers: { "content-type": "application/json" }, body: JSON.stringify(body) }),
  });
  const { statusCode } = response;
  const text = await response.body.text();
  // A GET for an unknown order or application returns 404 with the calls that were recorded for it.
  const isUnknown = method === "GET" && statusCode === 404;
  if (statusCode !== 200 && !isUnknown) throw new Error(`The sandbox rejected ${path}: HTTP ${statusCode} ${text}`);
  return JSON.parse(text) as T;
}

/**
 * Performs an action on an application, for example `submit` as the applicant or `review` as the
 * provider.
 */
export async function actOnApplication(sandboxUrl: string, linkUrl: string, action: string, body: object = {}): Promise<void> {
  await callSandboxControl(sandboxUrl, "POST", `kyc/${new URL(linkUrl).pathname.split("/").at(-1)}/${action}`, body);
}

/** Submits an application, as the applicant does on the hosted page. */
export const submitApplication = (sandboxUrl: string, linkUrl: string, submission: object): Promise<void> =>
  actOnApplication(sandboxUrl, linkUrl, "submit", submission);

/** Pays with a control call and follows the redirect, as the browser does. */
export async function payByControlCall(sandboxUrl: string, formUrl: string): Promise<string> {
  const orderId = new URL(formUrl).pathname.split("/").at(-1);
  const { redirect_url } = await callSandboxControl<{ redirect_url: string }>(
    sandboxUrl,
    "POST",
    `payments/${orderId}/pay`,
    acceptedCard,
  );
  const redirect = await request(redirect_url, { headersTimeout: 40_000 });
  await redirect.body.dump();
  if (redirect.statusCode !== 303) throw new Error(`The return URL responded with ${redirect.statusCode} instead of 303.`);
  return String(redirect.headers["location"]);
}
