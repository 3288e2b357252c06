import { submit } from "@amana/dev-env/demo/at-the-sandbox";
import { webhookDelays } from "../webhook-delays.ts";

/**
 * How long after the verification provider's verdict (completed_at, by its clock, on this machine)
 * the webhook arrives: callback, the provider asked, commit, event, delivery.
 */
export const verdicts = ({ rounds }: { rounds: number; seconds: number }) =>
  webhookDelays(
    {
      calls: "verdicts",
      callMs: "application created ms (median)",
      delayMs: "webhook after the verdict, ms (median)",
      async run(system, call, webhook) {
        const sentAtMs = performance.now();
        const created = await call("POST", "/api/v1/kyc/applications", {});
        const callMs = performance.now() - sentAtMs;
        if (created.status !== 201) throw new Error(`creation: ${created.status} ${JSON.stringify(created.body)}`);
        const id = String(created.body["id"]);
        await submit(system.sandboxUrl, String(created.body["link_url"]), { outcome: "approved" });
        const { receivedAtMs } = await webhook("KYC_COMPLETED", id);
        const { completed_at } = (await call("GET", `/api/v1/kyc/applications/${id}`)).body;
        return { callMs, delayMs: performance.timeOrigin + receivedAtMs - Date.parse(String(completed_at)) };
      },
    },
    rounds,
  );
