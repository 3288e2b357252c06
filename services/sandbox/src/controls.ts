import type { FastifyInstance, FastifyReply } from "fastify";
import type { Body } from "./checks.ts";
import { refuse } from "./edge.ts";
import type { ReceivedCalls } from "./received-calls.ts";

/** A kind of resource with control calls: orders or applications. */
export interface ControlledResource<Resource> {
  readonly path: string;
  find(id: string): Resource | undefined;
  /**
   * Name of the query parameter with the caller's reference, and error code for a request without
   * this parameter.
   */
  readonly reference: { readonly name: string; readonly missing: string };
  findByReference(reference: string): Resource | undefined;
  readonly unknown: { readonly error: string; readonly message: string };
  readonly calls: ReceivedCalls;
  view(resource: Resource): object;
}

/** Registers a control call on one resource. */
export type RegisterControl<Resource> = (
  action: string,
  handle: (resource: Resource, body: Body, reply: FastifyReply) => object,
) => void;

/** Registers the calls that read a resource. Returns a function that registers a control call. */
export function registerControls<Resource>(
  app: FastifyInstance,
  { path, reference, unknown, calls, ...resources }: ControlledResource<Resource>,
): RegisterControl<Resource> {
  type Handle = (resource: Resource, body: Body, reply: FastifyReply) => object;
  const registerRoute = (method: "GET" | "POST", action: string, handle: Handle) =>
    app.route<{ Params: { id: string }; Body: Body | null }>({
      method,
      url: `${path}/:id${action}`,
      handler({ params, body }, reply) {
        const resource = resources.find(params.id);
        return resource ? handle(resource, body ?? {}, reply) : reply.code(404).send(unknown);
      },
    });
  registerRoute("GET", "", resources.view);

  app.get<{ Querystring: Record<string, string> }>(path, ({ query }, reply) => {
    const name = query[reference.name];
    if (!name) return refuse(reply, 422, reference.missing, `Add ?${reference.name}= to the path.`);
    const resource = resources.findByReference(name);
    // Returns the received calls, because a call with this reference may have failed before it
    // created a resource.
    return resource ? resources.view(resource) : reply.code(404).send({ ...unknown, calls: calls.of({ reference: name }) });
  });

  return (action: string, handle: Handle) => registerRoute("POST", action, handle);
}
