import { Amana } from "@amana/client";
import type { DevFile } from "../dev-file.ts";
import { type ReceivedWebhook, startReceiver } from "./receiver.ts";
import type { Story } from "./story.ts";

const webhookTimeoutMs = 30_000;

/** A business with its webhook receiver, and the operator. */
export type Cast = Awaited<ReturnType<typeof gatherCast>>;

/** Registers the business and its endpoint, as every story begins. */
export async function gatherCast(story: Story, { gateway_url, sandbox_url, admin_key }: DevFile) {
  const operator = new Amana({ baseUrl: gateway_url, apiKey: admin_key });
  story.step("An operator registers a business.");
  const registered = await operator.businesses.create({ name: "Librairie du Port" });
  story.expectAnswer(registered, { status: "ACTIVE" }, "the business is ACTIVE and got its key, shown this once");
  const business = new Amana({ baseUrl: gateway_url, apiKey: String(registered.api_key) });

  story.step("The business registers a webhook endpoint on its own server.");
  const receiver = await startReceiver();
  const endpoint = await business.webhookEndpoints.create({ url: receiver.url });
  story.expectAnswer(endpoint, { status: "ACTIVE" }, `${receiver.url} is ACTIVE and has a signing secret`);
  receiver.useSecret(String(endpoint.secret));

  return {
    operator,
    business,
    receiver,
    sandboxUrl: sandbox_url,
    /** The next webhook of this event about this payment or application; its signatures held. */
    async expectWebhook(event: string, about: string): Promise<ReceivedWebhook> {
      const webhook = await receiver.next(event, about, webhookTimeoutMs);
      if (!webhook) {
        const refused = receiver.refused.join("; ") || "none";
        throw new Error(`No ${event} arrived within ${webhookTimeoutMs / 1000} s. Refused so far: ${refused}.`);
      }
      story.expect(true, `${event} arrived; X-Signature and the Standard Webhooks signature both hold`);
      return webhook;
    },
    [Symbol.asyncDispose]: () => receiver[Symbol.asyncDispose](),
  };
}
