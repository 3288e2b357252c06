import { SerializerSelector } from "@fastify/fast-json-stringify-compiler";
import Fastify, { type FastifyReply, type FastifyRequest } from "fastify";
import { compileOnFirstUse } from "./compile-on-first-use.ts";
import { createErrorHandler, createErrorPageHandler } from "./errors.ts";
import { parseQuery } from "./form/query.ts";
import type { App, Gateway } from "./gateway.ts";
import { logRequests } from "./plugins/access-log.ts";
import { authenticate } from "./plugins/authenticate.ts";
import { boundBytes, receiveBodies, receiveBody } from "./plugins/bound-bytes.ts";
import { boundLoad } from "./plugins/bound-load.ts";
import { bodyBytesMax, guardEdge, requestIdOf } from "./plugins/edge.ts";
import { takeIdempotencyKey } from "./plugins/idempotency-key.ts";
import { readJsonBodies } from "./plugins/json-bodies.ts";
import { limitByRequestKind } from "./plugins/limit-rate.ts";
import { measureRequests } from "./plugins/measure-requests.ts";
import { describeApi } from "./plugins/openapi.ts";
import { rejectUnknownExpectation, respondToParserErrors } from "./plugins/parser-errors.ts";
import { traceRequests } from "./plugins/trace-requests.ts";
import { accounts } from "./routes/accounts.ts";
import { apiKeys } from "./routes/api-keys.ts";
import { auditEvents } from "./routes/audit-events.ts";
import { beneficiaries } from "./routes/beneficiaries.ts";
import { businesses } from "./routes/businesses.ts";
import { checkout, checkoutFiles, sendCheckoutError } from "./routes/checkout.ts";
import { clients } from "./routes/clients.ts";
import { deadLetters } from "./routes/dead-letters.ts";
import { docs } from "./routes/docs.ts";
import { events } from "./routes/events.ts";
import { firstPage } from "./routes/first-page.ts";
import { guide } from "./routes/guide.ts";
import { health } from "./routes/health.ts";
import { invitations } from "./routes/invitations.ts";
import { kycApplications, kycReviews } from "./routes/kyc-applications.ts";
import { kycCallbacks } from "./routes/kyc-callbacks.ts";
import { onboarding, onboardingDecisions } from "./routes/onboarding.ts";
import { operatorKeys } from "./routes/operator-keys.ts";
import { ownBusiness } from "./routes/own-business.ts";
import { paymentLinks } from "./routes/payment-links.ts";
import { paymentOversight, refundDecisions } from "./routes/payment-oversight.ts";
import { paymentReceipt } from "./routes/payment-receipt.ts";
import { paymentReturn, sendReturnError } from "./routes/payment-return.ts";
import { payments } from "./routes/payments.ts";
import { problemPages } from "./routes/problem-pages.ts";
import { receipts, sendReceiptError } from "./routes/receipts.ts";
import { selfOnboarding } from "./routes/self-onboarding.ts";
import { webhookEndpoints } from "./routes/webhook-endpoints.ts";
import { webhookReplays } from "./routes/webhook-replays.ts";

const api = "/api/v1";
/** Bytes that count for an error page; more than each of these pages has. */
const errorPageBytes = 16 * 1024;
const returnPrefix = `${api}/payments/return`;

const serializerFactory = SerializerSelector();
/**
 * Creates the function with which Fastify compiles response serializers. Each serializer is
 * compiled at its first use.
 */
const lazySerializers: typeof serializerFactory = (...options) => {
  const compile = serializerFactory(...options);
  return (route) => compileOnFirstUse(() => compile(route));
};

/** Creates the Fastify application: hooks for all requests, then routes grouped by required key. */
export async function createApp(gateway: Gateway): Promise<App> {
  const { requestMs } = gateway.connectionBounds;
  const app = Fastify({
    logger: false,
    genReqId: requestIdOf,
    bodyLimit: bodyBytesMax,
    // `maxHeaderSize` already limits the length of the URL and of each path parameter.
    routerOptions: { maxParamLength: headerBytesMax, querystringParser: parseQuery },
    http: {
      maxHeaderSize: headerBytesMax,
      requireHostHeader: false,
      connectionsCheckingInterval: Math.ceil(requestMs / 6),
      // Node swaps the two timeouts if `headersTimeout` (60 s by default) is longer than
      // `requestTimeout`.
      headersTimeout: requestMs,
    },
    requestTimeout: requestMs,
    return503OnClosing: false,
    trustProxy: gateway.trustedProxies.length > 0 ? [...gateway.trustedProxies] : false,
    clientErrorHandler: respondToParserErrors(gateway.connections),
    frameworkErrors: (error, request, reply) => sendErrorBeforeRouting(error, request, reply),
    schemaController: { compilersFactory: { buildSerializer: lazySerializers } },
  }) as unknown as App;
  const sendProblem = createErrorHandler(gateway.logger);
  const errorPages = { [returnPrefix]: sendReturnError, "/receipts": sendReceiptError, "/pay": sendCheckoutError };
  const sendErrorBeforeRouting = (error: Error, request: FastifyRequest, reply: FastifyReply) => {
    receiveBody(request.raw, gateway);
    reply.header("x-request-id", request.id);
    const [, sendPage] = Object.entries(errorPages).find(([prefix]) => request.url.startsWith(`${prefix}/`)) ?? [];
    // No hook runs for such a request, so the bytes of its page are counted here.
    const bounds = gateway.byteBounds.of(request);
    if (!sendPage || gateway.bytes.reserve(bounds, errorPageBytes)) return sendProblem(error, request, reply);
    reply.raw.once("close", () => gateway.bytes.add(bounds, -errorPageBytes));
    return createErrorPageHandler(gateway.logger, sendPage)(error, request, reply);
  };

  app.server.maxHeadersCount = headersMax;
  app.server.on("checkExpectation", rejectUnknownExpectation(gateway));
  // Must follow all listeners of requests.
  gateway.connections.watch(app.server);
  receiveBodies(app, gateway);
  traceRequests(app, gateway);
  guardEdge(app);
  logRequests(app, gateway);
  measureRequests(app);
  boundBytes(app, gateway);
  readJsonBodies(app, gateway);
  app.addHook("preValidation", boundLoad(gateway));
  app.decorateRequest("caller", null);
  app.decorateRequest("resolvedKey", null);
  app.decorateRequest("idempotencyKey", null);
  app.setErrorHandler(sendProblem);
  await describeApi(app);

  await app.register(openRoutes, gateway);

  // Route for businesses that have an invitation and no key.
  await app.register(selfOnboarding, { ...gateway, prefix: `${api}/onboarding/businesses` });

  // Routes that require the key of a business.
  await app.register(
    async (business: App) => {
      authenticate(business, gateway, "business");
      business.addHook("onRequest", limitByRequestKind(gateway));
      business.addHook("preHandler", takeIdempotencyKey(gateway));
      business.register(ownBusiness, { ...gateway, prefix: "/me" });
      business.register(kycApplications, { ...gateway, prefix: "/kyc/applications" });
      business.register(beneficiaries, { ...gateway, prefix: "/beneficiaries" });
      business.register(accounts, { ...gateway, prefix: "/accounts" });
      business.register(clients, { ...gateway, prefix: "/clients" });
      business.register(onboarding, { ...gateway, prefix: "/clients/:id/onboarding" });
      business.register(payments, { ...gateway, prefix: "/payments" });
      business.register(paymentReceipt, { ...gateway, prefix: "/payments" });
      business.register(paymentLinks, { ...gateway, prefix: "/payment-links" });
      business.register(webhookEndpoints, { ...gateway, prefix: "/webhook-endpoints" });
      business.register(webhookReplays, { ...gateway, prefix: "/webhook-endpoints" });
      business.register(events, { ...gateway, prefix: "/events" });
    },
    { prefix: api },
  );

  // Routes that require the key of an operator.
  await app.register(
    async (admin: App) => {
      authenticate(admin, gateway, "admin");
      admin.addHook("preHandler", takeIdempotencyKey(gateway));
      admin.register(businesses, { ...gateway, prefix: "/businesses" });
      admin.register(kycReviews, { ...gateway, prefix: "/kyc/applications" });
      admin.register(onboardingDecisions, { ...gateway, prefix: "/clients/:id/onboarding" });
      admin.register(apiKeys, { ...gateway, prefix: "/admin/api-keys" });
      admin.register(operatorKeys, { ...gateway, prefix: "/admin/operator-keys" });
      admin.register(invitations, { ...gateway, prefix: "/admin/invitations" });
      admin.register(refundDecisions, { ...gateway, prefix: "/admin/refunds" });
      admin.register(paymentOversight, { ...gateway, prefix: "/admin/payments" });
      admin.register(auditEvents, { ...gateway, prefix: "/admin/audit-events" });
      admin.register(deadLetters, { ...gateway, prefix: "/admin/dead-letters" });
    },
    { prefix: api },
  );

  return app;
}

/** Registers the routes that require no key. */
async function openRoutes(open: App, gateway: Gateway): Promise<void> {
  open.register(paymentReturn, { ...gateway, prefix: returnPrefix });
  open.register(receipts, { ...gateway, prefix: "/receipts" });
  open.register(checkout, { ...gateway, prefix: "/pay" });
  open.register(checkoutFiles, { ...gateway, prefix: "/assets" });
  open.register(kycCallbacks, { ...gateway, prefix: "/callbacks" });
  open.register(problemPages, { prefix: "/problems" });
  open.register(health, gateway);
  open.register(firstPage, gateway);
  open.register(docs);
  open.register(guide);
}

const headerBytesMax = 16 * 1024;
/**
 * Maximum number of headers of a request. The size limit alone is not sufficient, because a header
 * of five bytes uses a hundred bytes of memory.
 */
const headersMax = 100;
