import type { DeadLetter } from "@amana/contracts/messaging/v1/dead_letter_service_pb";
import { DeadLetterJson, deadLetterStatuses, renderDeadLetter } from "@amana/public-api";
import { DomainError } from "@amana/rpc";
import { Type } from "typebox";
import type { BulkheadCall } from "../bulkheads/bulkhead-channel.ts";
import { choice, text } from "../form/fields.ts";
import type { App, Gateway } from "../gateway.ts";
import { addActionRoute, addListRoute, addReadRoute } from "../operations.ts";
import { countedMax } from "../pagination-headers.ts";
import { Problem } from "../problem.ts";
import { toRpcRequest } from "../rpc-request.ts";

const serviceNames = ["webhooks", "clients", "identity"] as const;
const int32Max = 2_147_483_647;

const deadLetter = { tag: "Operators", response: DeadLetterJson, render: renderDeadLetter } as const;

/** Adds the operations on the dead-lettered messages of all consuming services. */
export async function deadLetters(app: App, { rpc: { deadLetters: services } }: Gateway): Promise<void> {
  // The RPCs of all services have the same request and response messages.
  const { listDeadLetters, getDeadLetter, retryDeadLetter, dropDeadLetter } = services.webhooks;

  addListRoute(app, "", {
    ...deadLetter,
    rpc: listDeadLetters,
    summary: "List dead-lettered messages",
    description:
      "Returns the events that a consuming service failed to apply, newest first. Without the filter `status`, the list " +
      "omits DELIVERED and DROPPED dead-lettered messages.",
    filters: {
      service: choice(serviceNames, "Consuming service; all of them by default."),
      topic: text(100, { description: "Topic of the event.", examples: ["payments.v1"] }),
      status: choice(deadLetterStatuses),
    },
    response: Type.Omit(DeadLetterJson, ["payload"]),
    execute: async ({ service, limit, offset, ...filters }, { call }) => {
      const queriedServices = service ? [service] : serviceNames;
      // All rows on a page of several services can come from one service. Therefore each service
      // must return its newest rows up to the end of the page.
      const pageRange = service ? { limit, offset } : { limit: Math.min(offset + limit, int32Max), offset: 0 };
      const page = toRpcRequest(listDeadLetters.method.input, { ...filters, ...pageRange });
      const pages = await Promise.all(queriedServices.map((name) => services[name].listDeadLetters(page, call)));
      const sortedDeadLetters = pages.flatMap(({ deadLetters }) => deadLetters).sort(newestFirst);
      const total = pages.reduce((sum, page) => sum + page.total, 0);
      return {
        deadLetters: sortedDeadLetters.slice(offset - pageRange.offset, offset - pageRange.offset + limit),
        total,
        totalIsCapped: total > countedMax || pages.some(({ totalIsCapped }) => totalIsCapped),
      };
    },
  });

  /**
   * Returns the dead-lettered message and the service that stores it. Throws `not_found` if no
   * service stores the dead-lettered message.
   */
  const findDeadLetter = async (id: string, call: BulkheadCall) => {
    const { idempotencyKey: _, ...readCall } = call;
    const reads = serviceNames.map(async (name) => {
      const service = services[name];
      return { service, letter: await service.getDeadLetter({ id }, readCall) };
    });
    return await Promise.any(reads).catch(({ errors }: AggregateError) => {
      // If a service is unavailable, that service may store the dead-lettered message, so the error
      // is not `not_found`.
      throw errors.find((error) => !isNotFound(error)) ?? Problem.of("not_found");
    });
  };

  addReadRoute(app, "/:id", {
    ...deadLetter,
    rpc: getDeadLetter,
    summary: "Get a dead-lettered message",
    description:
      "Returns a dead-lettered message with the payload of its event. Texts in the payload, except ids and enum values, are replaced by their length.",
    execute: async ({ id }, { call }) => (await findDeadLetter(id, call)).letter,
  });

  addActionRoute(app, "/:id/retry", {
    ...deadLetter,
    rpc: retryDeadLetter,
    summary: "Retry a dead-lettered message",
    description:
      "Applies the event now. The event has its effect once, even if it is retried or published repeatedly. Fails with " +
      "409 `dead_letter_failed` when the event fails again. The retry is recorded in the audit trail.",
    execute: async ({ id }, { call }) => (await findDeadLetter(id, call)).service.retryDeadLetter({ id }, call),
  });

  addActionRoute(app, "/:id/drop", {
    ...deadLetter,
    rpc: dropDeadLetter,
    summary: "Drop a dead-lettered message",
    description:
      "Changes the status to DROPPED, which is final. The event has no effect, even if it is published again. The drop is " +
      "recorded in the audit trail.",
    body: { note: text(1_000, { description: "Reason, stored in the audit trail." }) },
    execute: async ({ id, note }, { call }) => (await findDeadLetter(id, call)).service.dropDeadLetter({ id, note }, call),
  });
}

const newestFirst = (a: DeadLetter, b: DeadLetter) =>
  a.createdAtMs === b.createdAtMs ? (a.id < b.id ? 1 : -1) : Number(b.createdAtMs - a.createdAtMs);

const isNotFound = (error: unknown) => error instanceof DomainError && error.kind === "not_found";
