import { request } from "undici";

type Method = "GET" | "POST" | "PUT" | "DELETE";

/** Calls the control API of the sandbox, with a path below /sandbox/. Throws if it is rejected. */
export async function control<T>(sandboxUrl: string, method: Method, path: string, body?: object): Promise<T> {
  const response = await request(`${sandboxUrl}/sandbox/${path}`, {
    method,
    ...(body && { headers: { "content-type": "application/json" }, body: JSON.stringify(body) }),
  });
  const { statusCode } = response;
  const text = await response.body.text();
  // A GET with 404 has a body, too: the recorded calls for an unknown order or application.
  const isUnknown = method === "GET" && statusCode === 404;
  if (statusCode !== 200 && !isUnknown) throw new Error(`The sandbox rejected ${path}: HTTP ${statusCode} ${text}`);
  return JSON.parse(text) as T;
}

/** Submits an application, as the applicant does on the hosted page. */
export async function submit(sandboxUrl: string, linkUrl: string, submission: object): Promise<void> {
  await control(sandboxUrl, "POST", `kyc/${new URL(linkUrl).pathname.split("/").at(-1)}/submit`, submission);
}
