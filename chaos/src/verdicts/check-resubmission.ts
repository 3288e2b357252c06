import { waitUntil } from "@amana/dev-env/eventually";
import { waitForCallbacks } from "../provider-view.ts";
import type { TestedApplication } from "./tested-application.ts";

const endMsMax = 120_000;

/**
 * Submits a session of Didit, reopens its link as the vendor, and submits the session again. The
 * service kyc may read the session after any of these steps. Therefore the application may end with
 * the first verdict, with the second verdict, or as FAILED, the state between the two submissions.
 */
export async function checkResubmission(application: TestedApplication): Promise<void> {
  const { context, id, response, details } = application;
  const { report, testSystem } = context;
  await application.act("submit", { outcome: "rejected" });
  await application.act("resubmit", {});
  await application.act("submit", response.submission).catch(() => {});
  const readEnd = async () => {
    const { status, verdict } = await application.read();
    return status === "FAILED" ? "FAILED" : String(verdict);
  };
  const possibleEnds: readonly string[] = ["REJECTED", "FAILED", response.expected];
  await waitUntil(async () => possibleEnds.includes(await readEnd()), endMsMax);
  await waitForCallbacks(testSystem.system, id);
  const end = await readEnd();
  report.check(
    "an application submitted again has the verdict of a submission",
    possibleEnds.includes(end),
    details(`is ${end}`),
  );
  report.count(`applications submitted again: ${end}`);
}
