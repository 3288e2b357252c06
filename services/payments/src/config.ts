import { type EnvReader, settings } from "@amana/runtime";
import { readServiceConfig } from "@amana/service-host";

export type Config = ReturnType<typeof readConfig>;

/** The settings of the payments service; `.env.example` explains each. */
export const readConfig = settings((env) => ({
  ...readServiceConfig(env, { emits: ["payments.v1", "audit.v1"] }),
  /** Where card holders' browsers come back to: the gateway's public address. */
  publicUrl: env.externalUrl("PUBLIC_URL"),
  satim: {
    url: env.externalUrl("SATIM_URL"),
    userName: env.string("SATIM_USERNAME"),
    password: env.string("SATIM_PASSWORD"),
    terminalId: env.string("SATIM_TERMINAL_ID"),
    /** The form's address of an order whose registration's answer was lost. */
    formUrlTemplate: formUrlTemplate(env),
    timeoutMs: timeoutMs(env),
    connectTimeoutMs: env.integer("SATIM_CONNECT_TIMEOUT_MS", { fallback: 10_000, min: 100, max: 60_000 }),
  },
  schedule: {
    /** Pauses between the status reads of a PENDING payment nobody came back for. */
    paymentCheckSeconds: env.seconds("PAYMENT_CHECK_SECONDS", "60,120,300,600"),
    /** How long a card holder has; a payment still unpaid after it expires. */
    paymentWindowSeconds: env.integer("PAYMENT_WINDOW_SECONDS", { fallback: 1_230, min: 1 }),
    /** Pauses between the reads of a refund whose outcome is unknown; the last one repeats. */
    refundCheckSeconds: env.seconds("REFUND_CHECK_SECONDS", "5,10,15,60"),
    /** When one without an answer is sent again, where the processor must refuse a second. */
    refundResendAfterSeconds: refundResendAfterSeconds(env),
    /** The assumption: a refund that was sent shows after this long, or never happens. */
    refundLateEffectSeconds: refundLateEffectSeconds(env),
    /** How long a refund without a known outcome is read before an operator has to decide. */
    refundDecisionAfterSeconds: env.integer("REFUND_DECISION_AFTER_SECONDS", { fallback: 86_400, min: 1 }),
    /** When a payment is read again, counted from the end of its refund. */
    refundRereadSeconds: env.seconds("REFUND_REREAD_SECONDS", "300,3600,86400"),
    /** Times at which an EXPIRED payment is read again, counted from its expiry. */
    expiredRereadSeconds: env.seconds("EXPIRED_REREAD_SECONDS", "300,3600,86400"),
    /** The same, counted from when it was paid. */
    paymentRereadSeconds: env.seconds("PAYMENT_REREAD_SECONDS", "3600,86400,259200,604800,2592000"),
    /** Maximum number of payments that each of the two jobs of a replica reads in a second. */
    paymentRereadsPerSecond: env.integer("PAYMENT_REREADS_PER_SECOND", { fallback: 40, min: 1, max: 100 }),
  },
}));

const timeoutMs = (env: EnvReader) => env.integer("SATIM_TIMEOUT_MS", { fallback: 30_000, min: 100, max: 60_000 });

const resendsMax = 2;

function refundResendAfterSeconds(env: EnvReader): number[] {
  const pauses = env.seconds("REFUND_RESEND_AFTER_SECONDS", "30,300");
  if (pauses.length > resendsMax) env.problem(`REFUND_RESEND_AFTER_SECONDS must name at most ${resendsMax} pauses`);
  if (pauses.some((seconds) => seconds * 1000 < timeoutMs(env))) {
    env.problem("REFUND_RESEND_AFTER_SECONDS must not be shorter than SATIM_TIMEOUT_MS");
  }
  return pauses;
}

function refundLateEffectSeconds(env: EnvReader): number {
  const seconds = env.integer("REFUND_LATE_EFFECT_SECONDS", { fallback: 1_200 });
  if (seconds * 1000 < timeoutMs(env)) env.problem("REFUND_LATE_EFFECT_SECONDS must not be shorter than SATIM_TIMEOUT_MS");
  return seconds;
}

function formUrlTemplate(env: EnvReader): string {
  const template = env.string("SATIM_FORM_URL_TEMPLATE");
  if (template !== "" && !template.includes("{mdOrder}")) env.problem("SATIM_FORM_URL_TEMPLATE must contain {mdOrder}");
  if (env.isProduction && template.startsWith("http:"))
    env.problem("SATIM_FORM_URL_TEMPLATE must be an https address in production");
  return template;
}
