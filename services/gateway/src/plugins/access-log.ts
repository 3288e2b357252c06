import { requestLogFields } from "../call.ts";
import type { App, Gateway } from "../gateway.ts";

/**
 * Logs one line for each request. The line contains no keys, no bodies and no paths with tokens.
 */
export function logRequests(app: App, { logger }: Gateway): void {
  if (!logger.isLevelEnabled("info")) return;
  app.addHook("onResponse", (request, reply, done) => {
    const { caller } = request;
    logger.info(
      {
        ...requestLogFields(request),
        method: request.method,
        route: request.routeOptions.url,
        status: reply.statusCode,
        ms: Math.round(reply.elapsedTime * 10) / 10,
        key_prefix: caller && "keyPrefix" in caller ? caller.keyPrefix : undefined,
        business_id: caller?.role === "business" ? caller.businessId : undefined,
      },
      "request",
    );
    done();
  });
}
