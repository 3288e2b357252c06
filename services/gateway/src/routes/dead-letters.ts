import { type DeadLetter, DeadLetterStatus } from "@amana/contracts/messaging/v1/dead_letter_service_pb";
import { DeadLetterJson, deadLetterStatuses, renderDeadLetter } from "@amana/public-api";
import { type CallOptions, DomainError } from "@amana/rpc";
import { Type } from "typebox";
import { callOf } from "../call.ts";
import { bodyOf } from "../form/body.ts";
import { choice, text } from "../form/fields.ts";
import { pageParameters } from "../form/query.ts";
import type { App, Gateway } from "../gateway.ts";
import { pageHeaders } from "../list.ts";
import { problems } from "../problems.ts";
import { PathId, pathId } from "./path-id.ts";

const tags = ["Dead letters"];
const serviceNames = ["webhooks", "clients", "identity"] as const;
const int32Max = 2_147_483_647;
type ServiceName = (typeof serviceNames)[number];

/** Events that a consuming service set aside, whichever it is. */
export const deadLetters =
  ({ rpc }: Gateway) =>
  async (app: App): Promise<void> => {
    app.get(
      "",
      {
        schema: {
          tags,
          operationId: "listDeadLetters",
          summary: "List events that were set aside, newest first",
          description: "Of one service or of all that consume events. Those that have ended only when their status is asked for.",
          querystring: Type.Object({
            ...pageParameters(),
            service: Type.Optional(choice(serviceNames)),
            topic: Type.Optional(text(100)),
            status: Type.Optional(choice(deadLetterStatuses)),
          }),
          response: { 200: Type.Array(Type.Omit(DeadLetterJson, ["payload"])) },
        },
      },
      async (request, reply) => {
        const { limit, offset, service, topic, status } = request.query;
        const asked = service ? [service] : serviceNames;
        // Of several services each one's newest, as far as the page reaches; of all of them together the page is cut out here.
        const reach = service ? { limit, offset } : { limit: Math.min(offset + limit, int32Max), offset: 0 };
        const page = { topic, status: status && DeadLetterStatus[status], ...reach };
        const found = await Promise.all(asked.map((name) => rpc.deadLetters[name].listDeadLetters(page, callOf(request, reply))));
        const letters = found.flatMap((one) => one.deadLetters).sort(newestFirst);
        pageHeaders(request, reply, { limit, offset }, { total: found.reduce((sum, one) => sum + one.total, 0) });
        return letters.slice(offset - reach.offset, offset - reach.offset + limit).map(renderDeadLetter);
      },
    );

    /** The service that has the letter. */
    const find = async (id: string, call: CallOptions): Promise<{ name: ServiceName; letter: DeadLetter }> => {
      const { idempotencyKey: _, ...reading } = call;
      const answers = await Promise.allSettled(
        serviceNames.map(async (name) => ({ name, letter: await rpc.deadLetters[name].getDeadLetter({ id }, reading) })),
      );
      const found = answers.find((answer) => answer.status === "fulfilled");
      if (found) return found.value;
      // As long as one of them cannot be asked, nobody knows that there is none.
      const unknown = answers.find((answer) => answer.status === "rejected" && !isNotFound(answer.reason));
      throw unknown?.status === "rejected" ? unknown.reason : problems.notFound();
    };

    app.get(
      "/:id",
      {
        schema: {
          tags,
          operationId: "getDeadLetter",
          summary: "Read an event that was set aside",
          params: PathId,
          response: { 200: DeadLetterJson },
        },
      },
      async (request, reply) => renderDeadLetter((await find(pathId(request.params), callOf(request, reply))).letter),
    );

    app.post(
      "/:id/retry",
      {
        schema: {
          tags,
          operationId: "retryDeadLetter",
          summary: "Try an event again that was set aside",
          description: "Its effect happens once, however often it is retried or published again. Audited.",
          params: PathId,
          body: bodyOf({}, { optional: true }),
          response: { 200: DeadLetterJson },
        },
      },
      async (request, reply) => {
        const id = pathId(request.params);
        const call = callOf(request, reply);
        const { name } = await find(id, call);
        return renderDeadLetter(await rpc.deadLetters[name].retryDeadLetter({ id }, call));
      },
    );

    app.post(
      "/:id/drop",
      {
        schema: {
          tags,
          operationId: "dropDeadLetter",
          summary: "Give up an event that was set aside",
          description: "It never has an effect, also when it is published again. Audited.",
          params: PathId,
          body: bodyOf({ note: text(1_000, { description: "Why; kept in the audit trail." }) }),
          response: { 200: DeadLetterJson },
        },
      },
      async (request, reply) => {
        const id = pathId(request.params);
        const call = callOf(request, reply);
        const { name } = await find(id, call);
        return renderDeadLetter(await rpc.deadLetters[name].dropDeadLetter({ id, note: request.body.note }, call));
      },
    );
  };

const newestFirst = (a: DeadLetter, b: DeadLetter) =>
  a.createdAtMs === b.createdAtMs ? (a.id < b.id ? 1 : -1) : Number(b.createdAtMs - a.createdAtMs);

const isNotFound = (error: unknown) => error instanceof DomainError && error.kind === "not_found";
