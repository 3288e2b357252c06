import type { App } from "../gateway.ts";
import { methodOf, requestDuration, requests } from "../metrics.ts";

/** Counts responses by method, route and status. Callers cannot choose the value of a label. */
export function measureRequests(app: App): void {
  app.addHook("onResponse", (request, reply, done) => {
    const { url } = request.routeOptions;
    const labels = { method: methodOf(request.method), route: request.is404 || url === undefined ? "none" : url };
    if (!request.routeOptions.config.isStreamed) requestDuration.observe(labels, reply.elapsedTime / 1000);
    requests.inc({ ...labels, status: reply.statusCode });
    done();
  });
}
