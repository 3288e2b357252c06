/** Client library of the Amana API for servers of businesses. It has no dependencies. */
export { AmanaError, ConnectionError, type FieldError, ProblemError, problemOf } from "./errors.ts";
export type * from "./gen/models.ts";
export { Amana } from "./gen/resources.ts";
export type { List, Page } from "./list.ts";
export type { ClientOptions, RequestOptions } from "./transport.ts";
export { type VerifyOptions, verifyWebhook, verifyXSignature, type Webhook, WebhookRefused } from "./webhooks.ts";
