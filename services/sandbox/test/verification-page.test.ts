import { afterAll, beforeAll, expect, test } from "vitest";
import type { Sandbox } from "../src/app.ts";
import { aSandbox, control } from "./a-sandbox.ts";
import { aVerification, callProvider, kycControl, objectAt } from "./a-verification.ts";

let sandbox: Sandbox;
beforeAll(async () => {
  sandbox = await aSandbox();
});
afterAll(() => sandbox[Symbol.asyncDispose]());

const redirect_url = "https://bank.test/back?basket=7";
const post = (linkUrl: string, action: string, value = "") =>
  fetch(`${linkUrl}/${action}`, { method: "POST", body: new URLSearchParams({ value }), redirect: "manual" });
const textOf = async (url: string) => (await fetch(url)).text();
const location = async (url: string) => {
  const { status, headers } = await fetch(url, { redirect: "manual" });
  return [status, headers.get("location")];
};

/** Completes all steps before the submission. */
async function completeSteps(linkUrl: string) {
  for (const [action, value] of [
    ["start", ""],
    ["document", "passport"],
    ["photo", "front"],
    ["record", ""],
  ] as const) {
    expect((await post(linkUrl, action, value)).status).toBe(303);
  }
}

test("the pages of a sandbox verification forbid caches, referrers, external resources and inline scripts", async () => {
  const openVerification = await aVerification(sandbox.url);
  const camera = await aVerification(sandbox.url);
  await post(camera.linkUrl, "start");
  await post(camera.linkUrl, "document", "passport");
  const completed = await aVerification(sandbox.url);
  await kycControl(sandbox.url, completed.token, "submit", { outcome: "approved" });
  const tester = `${sandbox.url}/sandbox/kyc/${openVerification.token}/tester`;
  for (const url of [openVerification.linkUrl, camera.linkUrl, completed.linkUrl, tester, `${sandbox.url}/verify/unknown`]) {
    const page = await fetch(url);
    expect(page.headers.get("cache-control")).toBe("no-store");
    expect(page.headers.get("referrer-policy")).toBe("no-referrer");
    const policy = page.headers.get("content-security-policy");
    expect(policy).toMatch(/^default-src 'none';.* connect-src 'self';/);
    expect(policy).not.toContain("unsafe");
    expect(policy?.includes("media-src blob:")).toBe(url === camera.linkUrl);
    expect(page.headers.get("permissions-policy")).toBe(`camera=${url === camera.linkUrl ? "(self)" : "()"}, microphone=()`);
    const text = await page.text();
    expect(text).not.toMatch(/(src|href|action)="(https?:)?\/\//);
    expect(text).not.toMatch(/ (style|on\w+)="|<style|<script(?! src=)/);
  }
  for (const response of [await post(openVerification.linkUrl, "start"), await fetch(`${openVerification.linkUrl}/status`)]) {
    expect(response.headers.get("cache-control")).toBe("no-store");
    expect(response.headers.get("referrer-policy")).toBe("no-referrer");
  }
});

test("the verification page offers and accepts only the document types that the application allows", async () => {
  const { linkUrl } = await aVerification(sandbox.url, { allowed_documents: ["passport"] });
  await post(linkUrl, "start");
  expect(await textOf(linkUrl)).not.toContain('value="id_card"');
  expect((await post(linkUrl, "document", "id_card")).status).toBe(422);
  expect(await textOf(linkUrl)).toContain("Step 1 of 4");
});

test("the verification page rejects a photograph when a video is required", async () => {
  const { linkUrl } = await aVerification(sandbox.url);
  await completeSteps(linkUrl);
  await post(linkUrl, "undo", "recording");
  await post(linkUrl, "choice", "still");
  expect(await textOf(linkUrl)).toContain('data-camera="video"');
});

test("the verification page ignores a submission that is sent before all steps are completed", async () => {
  const { linkUrl, providerId } = await aVerification(sandbox.url);
  await post(linkUrl, "start");
  await post(linkUrl, "photo", "back");
  await post(linkUrl, "send");
  expect(await objectAt(sandbox.url, providerId)).toMatchObject({ status: "OPENED", attempts_used: 0 });
});

test("the verification page by default approves a submission after a check of two seconds", async () => {
  const { linkUrl, providerId } = await aVerification(sandbox.url);
  await completeSteps(linkUrl);
  await Promise.all([post(linkUrl, "send"), post(linkUrl, "send")]);
  expect(await objectAt(sandbox.url, providerId)).toMatchObject({ status: "PROCESSING", attempts_used: 1 });
  expect(await (await fetch(`${linkUrl}/status`)).json()).toEqual({ waiting: true });
  await control(sandbox.url, "POST", "clock", { advance_seconds: 2 });
  expect(await objectAt(sandbox.url, providerId)).toMatchObject({ verdict: "APPROVED", document_type: "passport" });
  expect(await (await fetch(`${linkUrl}/status`)).json()).toEqual({ waiting: false });
});

test.each([
  ["CANCELED", 410, "This verification is cancelled"],
  ["EXPIRED", 410, "This link has expired"],
  ["COMPLETED", 200, "can no longer be used"],
  ["FAILED", 200, "All attempts are used"],
])(
  "the verification page in the status %s shows the reason, accepts no input, and its return path redirects to redirect_url with the status",
  async (status, code, text) => {
    const { linkUrl, token, providerId, reference } = await aVerification(sandbox.url, { redirect_url, max_attempts: 1 });
    if (status === "CANCELED") await callProvider(sandbox.url, "POST", `applications/${providerId}/cancel`);
    else if (status === "EXPIRED") await kycControl(sandbox.url, token, "expire");
    else await kycControl(sandbox.url, token, "submit", { outcome: status === "FAILED" ? "failed" : "approved" });
    const before = await objectAt(sandbox.url, providerId);
    const page = await fetch(linkUrl);
    expect(page.status).toBe(code);
    expect(await page.text()).toContain(text);
    for (const action of ["start", "send", "retry", "undo"]) expect((await post(linkUrl, action)).status).toBe(303);
    expect(await objectAt(sandbox.url, providerId)).toEqual(before);
    expect(await location(`${linkUrl}/return`)).toEqual([302, `${redirect_url}&application_id=${reference}&status=${status}`]);
  },
);

test("the return path of the verification page redirects to the verification page if the verification is open or has no redirect_url", async () => {
  const openVerification = await aVerification(sandbox.url, { redirect_url });
  expect(await location(`${openVerification.linkUrl}/return`)).toEqual([303, `/verify/${openVerification.token}?lang=en`]);
  const withoutRedirect = await aVerification(sandbox.url);
  await kycControl(sandbox.url, withoutRedirect.token, "submit", { outcome: "approved" });
  expect(await location(`${withoutRedirect.linkUrl}/return`)).toEqual([303, `/verify/${withoutRedirect.token}?lang=en`]);
  expect(await textOf(withoutRedirect.linkUrl)).not.toContain("data-return");
});

test("the verification page starts no new attempt if an outdated tab is submitted after a failed attempt", async () => {
  const { linkUrl, token, providerId } = await aVerification(sandbox.url);
  await kycControl(sandbox.url, token, "submit", { outcome: "failed" });
  await post(linkUrl, "start");
  expect(await objectAt(sandbox.url, providerId)).toMatchObject({ status: "FAILED" });
  await post(linkUrl, "retry");
  expect(await objectAt(sandbox.url, providerId)).toMatchObject({ status: "OPENED" });
});

test("the sandbox returns a page with status 404 for an unknown verification link, and escapes the link in the page", async () => {
  const response = await fetch(`${sandbox.url}/verify/${encodeURIComponent('"><script>')}?lang=en`);
  expect(response.status).toBe(404);
  const text = await response.text();
  expect(text).toContain("This link does not exist");
  expect(text).not.toContain('"><script>');
});

test("the tester's page of the sandbox rejects invalid settings, and applies valid settings to one submission", async () => {
  const { linkUrl, token, providerId } = await aVerification(sandbox.url);
  const choose = (fields: Record<string, string>) =>
    fetch(`${sandbox.url}/sandbox/kyc/${token}/tester`, {
      method: "POST",
      body: new URLSearchParams(fields),
      redirect: "manual",
    });
  expect((await choose({ nationality: "ALGERIA" })).status).toBe(422);
  expect((await choose({ outcome: "", document_expiry: "2020-01-31", aml_hit_count: "" })).status).toBe(303);
  await completeSteps(linkUrl);
  await post(linkUrl, "send");
  await control(sandbox.url, "POST", "clock", { advance_seconds: 2 });
  expect(await objectAt(sandbox.url, providerId)).toMatchObject({
    verdict: "REJECTED",
    reason_codes: [{ code: "DOCUMENT_EXPIRED" }],
  });
});
