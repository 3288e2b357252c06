import type { FastifyInstance } from "fastify";
import type { Operation } from "../faults.ts";
import { respondWithFault } from "../faulty-response.ts";
import { confirm, getOrderStatus } from "./capitalised-calls.ts";
import { getOrderStatusExtended } from "./get-order-status-extended.ts";
import { startLateCalls } from "./late-calls.ts";
import type { Parameters, Processor } from "./processor.ts";
import { refund } from "./refund.ts";
import { capitalisedRefusal, refusal } from "./refusal.ts";
import { register } from "./register.ts";

interface Route {
  readonly path: string;
  readonly operation: Operation;
  readonly call: (processor: Processor, parameters: Parameters) => object;
  readonly refuse: (code: string) => object;
}

const routes: readonly Route[] = [
  { path: "register.do", operation: "register", call: register, refuse: refusal },
  { path: "public/acknowledgeTransaction.do", operation: "confirm", call: confirm, refuse: capitalisedRefusal },
  { path: "confirmOrder.do", operation: "confirm", call: confirm, refuse: capitalisedRefusal },
  { path: "getOrderStatus.do", operation: "status", call: getOrderStatus, refuse: capitalisedRefusal },
  { path: "getOrderStatusExtended.do", operation: "status", call: getOrderStatusExtended, refuse: refusal },
  { path: "refund.do", operation: "refund", call: refund, refuse: refusal },
];

/** Registers the processor's API: parameters in a form or query, JSON responses with status 200. */
export function protocol(app: FastifyInstance, processor: Processor): void {
  const { config, database, faults, orders, calls } = processor;
  const lateCalls = startLateCalls(database, (path, parameters) => {
    const response = routes.find((route) => route.path === path)?.call(processor, parameters);
    app.log.info({ call: path, response }, "delayed call executed");
  });
  app.addHook("onClose", async () => lateCalls.stop());
  const shape = config.numbersAsStrings ? withNumbersAsStrings : (body: object) => body;

  for (const { path, operation, call, refuse } of routes) {
    app.route({
      method: ["GET", "POST"],
      url: `/payment/rest/${path}`,
      async handler(request, reply) {
        const { userName, password, ...parameters } = parametersOf(request.query, request.body);
        const orderId = parameters["mdOrder"] ?? parameters["orderId"];
        calls.record(operation, parameters, { id: orderId, reference: parameters["orderNumber"] });
        const isAuthenticated = userName === config.username && password === config.password;
        const mode = faults.consume(operation, orderId);
        const staleOrders = mode.name === "stale" ? orders.asOf(Date.now() - Number(mode.value)) : {};
        return respondWithFault(reply, mode, {
          // The error "Access denied" has lower-case field names in the responses to all calls.
          effect: () =>
            shape(
              isAuthenticated
                ? call({ ...processor, orders: { ...orders, ...staleOrders } }, parameters)
                : refusal("5", "Access denied"),
            ),
          refusal: (code) => shape(refuse(code)),
          scheduleEffect: (ms) => {
            if (isAuthenticated) lateCalls.add(path, parameters, ms);
          },
        });
      },
    });
  }
}

/**
 * Returns the parameters of a call. Uses the last value of a repeated parameter. Omits empty
 * parameters.
 */
function parametersOf(...sources: unknown[]): Record<string, string> {
  const entries = sources.flatMap((source) => Object.entries((source ?? {}) as Record<string, unknown>));
  return Object.fromEntries(
    entries
      .map(([name, value]) => [name, String(Array.isArray(value) ? value.at(-1) : value)])
      .filter(([, value]) => value !== ""),
  );
}

function withNumbersAsStrings(body: object): object {
  return JSON.parse(JSON.stringify(body), (_key, value) => (typeof value === "number" ? String(value) : value));
}
