import type { FastifyInstance, FastifyReply } from "fastify";
import type { Body } from "./checks.ts";
import { refuse } from "./edge.ts";
import type { ReceivedCalls } from "./received-calls.ts";

export interface Controlled<Thing> {
  readonly path: string;
  find(id: string): Thing | undefined;
  /** The parameter with the client's name of the thing, and the error when it is missing. */
  readonly reference: { readonly name: string; readonly missing: string };
  findByReference(reference: string): Thing | undefined;
  readonly unknown: { readonly error: string; readonly message: string };
  readonly calls: ReceivedCalls;
  view(thing: Thing): object;
}

/** How testers look at a thing and play the people around it. Returns what adds such a call. */
export function controlsOf<Thing>(app: FastifyInstance, { path, reference, unknown, calls, ...books }: Controlled<Thing>) {
  type Handle = (thing: Thing, body: Body, reply: FastifyReply) => object;
  const on = (method: "GET" | "POST", action: string, handle: Handle) =>
    app.route<{ Params: { id: string }; Body: Body | null }>({
      method,
      url: `${path}/:id${action}`,
      handler({ params, body }, reply) {
        const thing = books.find(params.id);
        return thing ? handle(thing, body ?? {}, reply) : reply.code(404).send(unknown);
      },
    });
  on("GET", "", books.view);

  app.get<{ Querystring: Record<string, string> }>(path, ({ query }, reply) => {
    const wanted = query[reference.name];
    if (!wanted) return refuse(reply, 422, reference.missing, `Add ?${reference.name}= to the path.`);
    const thing = books.findByReference(wanted);
    // Calls that never came to anything are still worth counting.
    return thing ? books.view(thing) : reply.code(404).send({ ...unknown, calls: calls.of({ reference: wanted }) });
  });

  return (action: string, handle: Handle) => on("POST", action, handle);
}
