import { request } from "undici";

/** What an applicant does on the hosted page, in one control call of the sandbox. */
export async function submit(sandboxUrl: string, linkUrl: string, submission: object): Promise<void> {
  const token = new URL(linkUrl).pathname.split("/").at(-1) ?? "";
  const answer = await request(`${sandboxUrl}/sandbox/kyc/${token}/submit`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(submission),
  });
  await answer.body.dump();
  if (answer.statusCode !== 200) throw new Error(`The sandbox did not take the submission: HTTP ${answer.statusCode}.`);
}
