import { request } from "undici";

/** A control call, `path` from below /sandbox/. */
export async function control(sandboxUrl: string, path: string, body: object): Promise<Record<string, unknown>> {
  const answer = await request(`${sandboxUrl}/sandbox/${path}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  const text = await answer.body.text();
  if (answer.statusCode !== 200) throw new Error(`The sandbox did not take ${path}: HTTP ${answer.statusCode} ${text}`);
  return JSON.parse(text) as Record<string, unknown>;
}

/** What an applicant does on the hosted page. */
export async function submit(sandboxUrl: string, linkUrl: string, submission: object): Promise<void> {
  await control(sandboxUrl, `kyc/${new URL(linkUrl).pathname.split("/").at(-1)}/submit`, submission);
}
