import { readProviderView, waitForCallbacks } from "../provider-view.ts";
import type { Random } from "../random.ts";
import type { TestedApplication } from "./tested-application.ts";

/**
 * Changes a decided application at the vendor. The vendor reverses its verdict. Didit can instead
 * reopen the link and approve a new submission. No such change may affect Amana's final verdict.
 */
export async function changeAtVendor(application: TestedApplication, random: Random): Promise<void> {
  const { context, id } = application;
  const { system } = context.testSystem;
  const { verdict } = await readProviderView(system, id);
  if (context.kycProvider === "didit" && random.chance(0.4)) {
    await application.act("resubmit", {});
    await application.act("submit", { outcome: "approved" });
    context.report.count("decided applications submitted again");
  } else {
    await application.act("reverse", { outcome: verdict === "APPROVED" ? "REJECTED" : "APPROVED" });
    context.report.count("verdicts reversed by the vendor");
  }
  await waitForCallbacks(system, id);
}
