import type { DeadLetter } from "@amana/contracts/messaging/v1/dead_letter_service_pb";
import { DeadLetterJson, deadLetterStatuses, renderDeadLetter } from "@amana/public-api";
import { DomainError } from "@amana/rpc";
import { Type } from "typebox";
import type { BulkheadCall } from "../bulkheads/bulkhead-channel.ts";
import { choice, text } from "../form/fields.ts";
import type { App, Gateway } from "../gateway.ts";
import { act, list, read } from "../operations.ts";
import { countedMax } from "../page-headers.ts";
import { Problem } from "../problem.ts";
import { requestOf } from "../rpc-request.ts";

const serviceNames = ["webhooks", "clients", "identity"] as const;
const int32Max = 2_147_483_647;

const deadLetter = { tags: ["Dead letters"], answer: DeadLetterJson, render: renderDeadLetter };

/** Events whose effect failed, of all consuming services. */
export async function deadLetters(app: App, { rpc: { deadLetters: services } }: Gateway): Promise<void> {
  // What each of them takes and answers is the same.
  const { listDeadLetters, getDeadLetter, retryDeadLetter, dropDeadLetter } = services.webhooks;

  list(app, "", {
    ...deadLetter,
    rpc: listDeadLetters,
    summary: "List dead letters, newest first",
    description:
      "Events whose effect failed in a consuming service. Dead letters that have ended are listed only with the filter status.",
    filters: { service: choice(serviceNames), topic: text(100), status: choice(deadLetterStatuses) },
    answer: Type.Omit(DeadLetterJson, ["payload"]),
    ask: async ({ service, limit, offset, ...filters }, { call }) => {
      const asked = service ? [service] : serviceNames;
      // Of several services each one's newest, as far as the page reaches; of all of them
      // together the page is cut out here.
      const reach = service ? { limit, offset } : { limit: Math.min(offset + limit, int32Max), offset: 0 };
      const page = requestOf(listDeadLetters.method.input, { ...filters, ...reach });
      const found = await Promise.all(asked.map((name) => services[name].listDeadLetters(page, call)));
      const letters = found.flatMap((one) => one.deadLetters).sort(newestFirst);
      const total = found.reduce((sum, one) => sum + one.total, 0);
      return {
        deadLetters: letters.slice(offset - reach.offset, offset - reach.offset + limit),
        total,
        totalIsCapped: total > countedMax || found.some((one) => one.totalIsCapped),
      };
    },
  });

  /** The service that has the letter, and the letter. */
  const find = async (id: string, call: BulkheadCall) => {
    const { idempotencyKey: _, ...reading } = call;
    const answers = await Promise.allSettled(
      serviceNames.map(async (name) => ({
        service: services[name],
        letter: await services[name].getDeadLetter({ id }, reading),
      })),
    );
    const found = answers.find((answer) => answer.status === "fulfilled");
    if (found) return found.value;
    // As long as one of them cannot be asked, nobody knows that there is none.
    const unknown = answers.find((answer) => answer.status === "rejected" && !isNotFound(answer.reason));
    throw unknown?.status === "rejected" ? unknown.reason : Problem.of("not_found");
  };

  read(app, "/:id", {
    ...deadLetter,
    rpc: getDeadLetter,
    summary: "Get a dead letter",
    ask: async ({ id }, { call }) => (await find(id, call)).letter,
  });

  act(app, "/:id/retry", {
    ...deadLetter,
    rpc: retryDeadLetter,
    summary: "Retry a dead letter now",
    description: "Its effect happens once, however often it is retried or published again. Audited.",
    ask: async ({ id }, { call }) => (await find(id, call)).service.retryDeadLetter({ id }, call),
  });

  act(app, "/:id/drop", {
    ...deadLetter,
    rpc: dropDeadLetter,
    summary: "Drop a dead letter",
    description: "The event never has its effect, also when it is published again. Audited.",
    body: { note: text(1_000, { description: "Why; kept in the audit trail." }) },
    ask: async ({ id, note }, { call }) => (await find(id, call)).service.dropDeadLetter({ id, note }, call),
  });
}

const newestFirst = (a: DeadLetter, b: DeadLetter) =>
  a.createdAtMs === b.createdAtMs ? (a.id < b.id ? 1 : -1) : Number(b.createdAtMs - a.createdAtMs);

const isNotFound = (error: unknown) => error instanceof DomainError && error.kind === "not_found";
