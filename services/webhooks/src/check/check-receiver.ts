import { WebhookCheckName, type WebhookCheckSchema } from "@amana/contracts/webhooks/v1/webhook_endpoint_service_pb";
import { renderBareEvent } from "@amana/public-api";
import { uuidv7 } from "@amana/runtime";
import type { MessageInitShape } from "@bufbuild/protobuf";
import type { Context } from "../context.ts";
import { type Answer, createHttpClient } from "../delivery/http-client.ts";
import { deliveryHeaders } from "../delivery/signature.ts";
import { newSecret, openSecrets, type SealedSecrets, type SigningSecrets } from "../webhook-endpoint/secrets.ts";
import { type ReceiverExpectation, receiverExpectations } from "./receiver-expectations.ts";

/** An endpoint with what signs its events now. */
export type Receiver = SealedSecrets & { readonly business_id: string; readonly url: string };

type Check = MessageInitShape<typeof WebhookCheckSchema>;

const type = "WEBHOOK_CHECK";
const timeoutMsMax = 5_000;
/** More than any receiver tolerates, and than a clock is wrong by in earnest. */
const oldMs = 60 * 60 * 1000;

/**
 * Sends the receiver what it must take and what it must refuse, as the engine would, and says what
 * it did wrong. At most two calls come one after the other. None of them is a delivery.
 */
export async function checkReceiver(context: Context, receiver: Receiver): Promise<Check[]> {
  const { addresses, clock, delivery } = context;
  await using client = createHttpClient({ addresses, timeoutMs: Math.min(delivery.timeoutMs, timeoutMsMax) });
  const secrets = openSecrets(context, receiver);

  const send = async (event: { id: string; body: Buffer }, signing: SigningSecrets, at: Date) =>
    await client.post(new URL(receiver.url), deliveryHeaders(type, event.id, at, event.body, signing), event.body);
  const anEvent = () => {
    const id = uuidv7();
    return { id, body: Buffer.from(renderBareEvent(type, id, receiver.business_id, clock.now())) };
  };
  const twice = async () => {
    const event = anEvent();
    const good = await send(event, secrets, clock.now());
    return [good, await send(event, secrets, clock.now())] as const;
  };
  const [[good, duplicate], forged, old] = await Promise.all([
    twice(),
    send(anEvent(), { current: newSecret(), other: undefined }, clock.now()),
    send(anEvent(), secrets, new Date(clock.now().getTime() - oldMs)),
  ]);
  return [
    judged(WebhookCheckName.GOOD, receiverExpectations.good, good),
    judged(WebhookCheckName.FORGED_SIGNATURE, receiverExpectations.forged, forged),
    judged(WebhookCheckName.DUPLICATE, receiverExpectations.duplicate, duplicate),
    judged(WebhookCheckName.OLD_TIMESTAMP, receiverExpectations.old, old),
  ];
}

function judged(name: WebhookCheckName, { must, advice, silence }: ReceiverExpectation, answer: Answer | undefined): Check {
  const { statusCode, failure, durationMs } = answer ?? {};
  if (statusCode === undefined)
    return { name, passed: false, detail: `no answer: ${failure?.detail ?? "it was cut off"}. ${silence}` };
  const passed = must === "take" ? isTaken(statusCode) : !isTaken(statusCode);
  const said = `answered ${statusCode} in ${durationMs} ms`;
  return { name, passed, detail: passed ? said : `${said}. ${advice}` };
}

const isTaken = (statusCode: number) => statusCode >= 200 && statusCode < 300;
