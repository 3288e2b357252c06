import { Amana } from "@amana/client";
import type { DevFile } from "../dev-file.ts";
import { type ReceivedWebhook, startReceiver } from "./receiver.ts";
import type { Reporter } from "./reporter.ts";

const webhookTimeoutMs = 30_000;

/** The API clients of a business and of an operator, and the webhook receiver of the business. */
export type Participants = Awaited<ReturnType<typeof registerParticipants>>;

/** Registers the business and its endpoint. */
export async function registerParticipants(reporter: Reporter, { gateway_url, sandbox_url, admin_key }: DevFile) {
  const operator = new Amana({ baseUrl: gateway_url, apiKey: admin_key });
  reporter.step("An operator registers a business.");
  const registered = await operator.businesses.create({ name: "Librairie du Port" });
  reporter.expectFields(registered, { status: "ACTIVE" }, "the business is ACTIVE; its key is shown only once");
  const business = new Amana({ baseUrl: gateway_url, apiKey: String(registered.api_key) });

  reporter.step("The business registers a webhook endpoint on its own server.");
  const receiver = await startReceiver();
  const endpoint = await business.webhookEndpoints.create({ url: receiver.url });
  reporter.expectFields(endpoint, { status: "ACTIVE" }, `the endpoint ${receiver.url} is ACTIVE and has a signing secret`);
  receiver.useSecret(String(endpoint.secret));

  return {
    operator,
    business,
    receiver,
    sandboxUrl: sandbox_url,
    /** Returns the lines of the business's statement from a time until now. */
    async readStatement(from: string): Promise<Record<string, string>[]> {
      const query = new URLSearchParams({ from, to: new Date().toISOString() });
      const headers = { authorization: `Bearer ${registered.api_key}` };
      const response = await fetch(`${gateway_url}/api/v1/payments/statement?${query}`, { headers });
      const text = await response.text();
      if (response.status !== 200) throw new Error(`The statement returned ${response.status}: ${text}`);
      return text.split("\n").flatMap((line) => (line === "" ? [] : [JSON.parse(line)]));
    },
    /**
     * Waits for the webhook about this payment or application. The receiver verifies the signatures
     * of the webhook.
     */
    async expectWebhook(event: string, resourceId: string): Promise<ReceivedWebhook> {
      const webhook = await receiver.next(event, resourceId, webhookTimeoutMs);
      if (!webhook) {
        const rejectionReasons = receiver.refused.join("; ") || "none";
        throw new Error(
          `No ${event} was received within ${webhookTimeoutMs / 1000} s. Rejected deliveries: ${rejectionReasons}.`,
        );
      }
      reporter.expect(true, `${event} was received; X-Signature and the Standard Webhooks signature are valid`);
      return webhook;
    },
    [Symbol.asyncDispose]: () => receiver[Symbol.asyncDispose](),
  };
}
