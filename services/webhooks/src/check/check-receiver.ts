import { WebhookCheckName, type WebhookCheckSchema } from "@amana/contracts/webhooks/v1/webhook_endpoint_service_pb";
import { renderBareEvent } from "@amana/public-api";
import { uuidv7 } from "@amana/runtime";
import type { MessageInitShape } from "@bufbuild/protobuf";
import type { Context } from "../context.ts";
import { deliveryHeaders } from "../delivery/signature.ts";
import { createHttpClient, type PostOutcome } from "../http-client/http-client.ts";
import { decryptSecrets, type EncryptedSecrets, newSecret, type SigningSecrets } from "../webhook-endpoint/secrets.ts";
import { type ReceiverExpectation, receiverExpectations } from "./receiver-expectations.ts";

/** Columns of an endpoint that a check needs, including the encrypted signing secrets. */
export type Receiver = EncryptedSecrets & { readonly business_id: string; readonly url: string };

type Check = MessageInitShape<typeof WebhookCheckSchema>;

const type = "WEBHOOK_CHECK";
const timeoutMsMax = 5_000;
/** Maximum wait for a slot for connecting. It is short, so that a check ends soon. */
const slotWaitMsMax = 1_000;
/**
 * Age of the timestamp that a receiver must reject as too old. One hour exceeds the recommended
 * tolerance of five minutes and the usual difference between clocks.
 */
const oldEventAgeMs = 60 * 60 * 1000;

/**
 * Sends the receiver four events in the same way as deliveries, and returns the result of each
 * check. The receiver must accept one valid event twice. It must reject a forged event and an event
 * with an old timestamp. The valid event is sent a second time after the response to the first
 * request. All other requests are concurrent. The service stores no delivery for these requests.
 */
export async function checkReceiver(context: Context, receiver: Receiver): Promise<Check[]> {
  const { addresses, clock, delivery, limits } = context;
  await using client = createHttpClient({
    addresses,
    timeoutMs: Math.min(delivery.timeoutMs, timeoutMsMax),
    limits,
  });
  const secrets = decryptSecrets(context, receiver);
  const sender = { businessId: receiver.business_id, slotWaitMs: slotWaitMsMax };

  const send = async ({ id, body }: { id: string; body: Buffer }, signingSecrets: SigningSecrets, at: Date) =>
    await client.post(sender, new URL(receiver.url), deliveryHeaders(type, id, at, body, signingSecrets), body);
  const anEvent = () => {
    const id = uuidv7();
    return { id, body: Buffer.from(renderBareEvent(type, id, receiver.business_id, clock.now())) };
  };
  const sendTwice = async () => {
    const event = anEvent();
    const firstOutcome = await send(event, secrets, clock.now());
    return [firstOutcome, await send(event, secrets, clock.now())] as const;
  };
  const [[firstOutcome, duplicate], forged, old] = await Promise.all([
    sendTwice(),
    send(anEvent(), { current: newSecret(), other: undefined }, clock.now()),
    send(anEvent(), secrets, new Date(clock.now().getTime() - oldEventAgeMs)),
  ]);
  return [
    evaluate(WebhookCheckName.GOOD, receiverExpectations.good, firstOutcome),
    evaluate(WebhookCheckName.FORGED_SIGNATURE, receiverExpectations.forged, forged),
    evaluate(WebhookCheckName.DUPLICATE, receiverExpectations.duplicate, duplicate),
    evaluate(WebhookCheckName.OLD_TIMESTAMP, receiverExpectations.old, old),
  ];
}

function evaluate(
  name: WebhookCheckName,
  { must, advice, adviceWithoutResponse }: ReceiverExpectation,
  outcome: PostOutcome | undefined,
): Check {
  const { statusCode, failure, durationMs } = outcome ?? {};
  if (statusCode === undefined) {
    const cause =
      failure?.detail ??
      "Amana did not complete the request, because it is restarting or too many other requests to your endpoints are connecting; run the check again";
    return { name, passed: false, detail: `no response: ${cause}. ${adviceWithoutResponse}` };
  }
  const passed = must === "accept" ? isAccepted(statusCode) : !isAccepted(statusCode);
  const response = `responded with ${statusCode} in ${durationMs} ms`;
  return { name, passed, detail: passed ? response : `${response}. ${advice}` };
}

const isAccepted = (statusCode: number) => statusCode >= 200 && statusCode < 300;
