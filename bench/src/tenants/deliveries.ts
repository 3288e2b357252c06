import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { PaymentEventSchema, PaymentEventType } from "@amana/contracts/payments/v1/payment_events_pb";
import { PaymentStatus } from "@amana/contracts/payments/v1/payment_pb";
import { WebhookEndpointService } from "@amana/contracts/webhooks/v1/webhook_endpoint_service_pb";
import { createRpcClient } from "@amana/rpc";
import { sleep, uuidv7 } from "@amana/runtime";
import { aBusinessCaller } from "@amana/testing";
import { create, toBinary } from "@bufbuild/protobuf";
import { type Operation, type Stage, sides } from "./stage.ts";

const businesses = 8;
const perBatch = 64;

/**
 * Events of several businesses at once, told to the service, kept, delivered to a server of this
 * process, and recorded; deliveries that are due are claimed as ever.
 */
export async function deliveries(stage: Stage, stack: AsyncDisposableStack): Promise<Record<string, Operation>> {
  const server = createServer((request, response) => {
    request.resume();
    request.on("end", () => response.writeHead(200).end());
  });
  server.keepAliveTimeout = 60_000;
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  stack.defer(() => server.closeAllConnections());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;

  const callers = Array.from({ length: businesses }, () => aBusinessCaller());
  for (const side of sides) {
    const endpoints = createRpcClient(WebhookEndpointService, stage[side].webhooks.service.channel);
    for (const caller of callers) await endpoints.createWebhookEndpoint({ url }, { caller });
  }
  return {
    "an event delivered, from its message to its record": async (side, times) => {
      const { service, owner } = stage[side].webhooks;
      for (let done = 0; done < times; done += perBatch) {
        const count = Math.min(perBatch, times - done);
        await service.publish(
          "payments.v1",
          ...Array.from({ length: count }, (_, i) => anEvent(callers[i % businesses]?.businessId ?? "")),
        );
      }
      for (;;) {
        const { rowCount } = await owner.query("select from delivery where status = 'PENDING' limit 1");
        if (rowCount === 0) return;
        await sleep(20);
      }
    },
  };
}

function anEvent(businessId: string) {
  const [id, paymentId] = [uuidv7(), uuidv7()];
  const payment = { id: paymentId, businessId, status: PaymentStatus.REFUNDED, amountMinor: 500_000n, currency: "DZD" };
  return {
    key: paymentId,
    payload: toBinary(
      PaymentEventSchema,
      create(PaymentEventSchema, {
        type: PaymentEventType.PAYMENT_REFUNDED,
        payment: { ...payment, refundedAmountMinor: 500_000n },
      }),
    ),
    headers: {
      ce_specversion: "1.0",
      ce_id: id,
      ce_type: "payments.v1.PaymentRefunded",
      ce_source: "payments",
      ce_time: new Date().toISOString(),
    },
  };
}
