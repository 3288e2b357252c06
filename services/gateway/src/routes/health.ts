import type { App, Gateway } from "../gateway.ts";

/** Serves liveness (/healthz) and readiness (/readyz) for the supervisor of the process. */
export async function health(app: App, { readiness }: Gateway): Promise<void> {
  const unbounded = { config: { isUnbounded: true } };
  app.get("/healthz", unbounded, async (_request, reply) => reply.send({ status: "ok" }));
  app.get("/readyz", unbounded, async (_request, reply) => {
    const missing = await readiness.missing();
    return missing.length === 0 ? reply.send({ status: "ok" }) : reply.code(503).send({ status: "unavailable", missing });
  });
}
