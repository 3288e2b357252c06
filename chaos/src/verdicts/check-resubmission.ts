import { until } from "@amana/dev-env/eventually";
import { waitForCallbacks } from "../provider-view.ts";
import type { TestedApplication } from "./tested-application.ts";

const endMs = 120_000;

/**
 * Submits a session of Didit, whose link the vendor opens again at once, and submits it again. The
 * service may read either verdict, or the request between them, which is a failed attempt. The
 * application must end with one of them.
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
  await until(async () => possibleEnds.includes(await readEnd()), endMs);
  await waitForCallbacks(testSystem.system, id);
  const end = await readEnd();
  report.check(
    "an application submitted again has the verdict of a submission",
    possibleEnds.includes(end),
    details(`is ${end}`),
  );
  report.count(`applications submitted again: ${end}`);
}
