import { request } from "undici";

type Method = "GET" | "POST" | "PUT" | "DELETE";

/** A control call, `path` from below /sandbox/. Throws when it is refused. */
export async function control<T>(sandboxUrl: string, method: Method, path: string, body?: object): Promise<T> {
  const answer = await request(`${sandboxUrl}/sandbox/${path}`, {
    method,
    ...(body && { headers: { "content-type": "application/json" }, body: JSON.stringify(body) }),
  });
  const { statusCode } = answer;
  const text = await answer.body.text();
  // 404 to a look: no such order or application, but the calls that asked for it are there.
  const looked = method === "GET" && statusCode === 404;
  if (statusCode !== 200 && !looked) throw new Error(`The sandbox did not take ${path}: HTTP ${statusCode} ${text}`);
  return JSON.parse(text) as T;
}

/** What an applicant does on the hosted page. */
export async function submit(sandboxUrl: string, linkUrl: string, submission: object): Promise<void> {
  await control(sandboxUrl, "POST", `kyc/${new URL(linkUrl).pathname.split("/").at(-1)}/submit`, submission);
}
