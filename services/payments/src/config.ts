import { type EnvReader, settings } from "@amana/runtime";
import { readServiceConfig } from "@amana/service-host";
import type { MailSettings } from "./receipt/mailer.ts";

export type Config = ReturnType<typeof readConfig>;

/** Settings of the payments service; `.env.example` describes each setting. */
export const readConfig = settings((env) => ({
  ...readServiceConfig(env, { emits: ["payments.v1", "audit.v1"] }),
  /** Public URL of the gateway, to which card holders' browsers return. */
  publicUrl: env.externalUrl("PUBLIC_URL"),
  satim: {
    url: env.externalUrl("SATIM_URL"),
    userName: env.string("SATIM_USERNAME"),
    password: env.string("SATIM_PASSWORD"),
    terminalId: env.string("SATIM_TERMINAL_ID"),
    /** Template of the form URL for an order whose registration response was lost. */
    formUrlTemplate: readFormUrlTemplate(env),
    timeoutMs: readTimeoutMs(env),
    connectTimeoutMs: env.integer("SATIM_CONNECT_TIMEOUT_MS", { fallback: 10_000, min: 100, max: 60_000 }),
  },
  /** SMTP settings for receipt e-mails. Undefined if the service sends no e-mails. */
  mail: readMailSettings(env),
  schedule: {
    /**
     * Pauses between the reads of a PENDING payment. The first pause starts when the payment is
     * created.
     */
    paymentCheckSeconds: env.seconds("PAYMENT_CHECK_SECONDS", "60,120,300,600"),
    /** Time that the card holder has to pay. Afterwards, an unpaid payment expires. */
    paymentWindowSeconds: env.integer("PAYMENT_WINDOW_SECONDS", { fallback: 1_230, min: 1 }),
    /** Pauses between the reads of a refund with an unknown outcome. The last pause repeats. */
    refundCheckSeconds: env.seconds("REFUND_CHECK_SECONDS", "5,10,15,60"),
    /**
     * Pauses before a refund request is sent again, if the processor cannot execute the refund
     * twice.
     */
    refundResendAfterSeconds: readResendAfterSeconds(env),
    /** Assumed maximum time between a refund request and its effect at the processor. */
    refundLateEffectSeconds: readLateEffectSeconds(env),
    /** Time after which an operator must decide about a refund with an unknown outcome. */
    refundDecisionAfterSeconds: env.integer("REFUND_DECISION_AFTER_SECONDS", { fallback: 86_400, min: 1 }),
    /** Times at which a payment is read again, in seconds after its refund ended. */
    refundRereadSeconds: env.seconds("REFUND_REREAD_SECONDS", "300,3600,86400"),
    /** Times at which an EXPIRED payment is read again, in seconds after it expired. */
    expiredRereadSeconds: env.seconds("EXPIRED_REREAD_SECONDS", "300,3600,86400"),
    /** Times at which a payment is read again, in seconds after `paidAt`. */
    paymentRereadSeconds: env.seconds("PAYMENT_REREAD_SECONDS", "3600,86400,259200,604800,2592000"),
    /** Maximum number of reads per second, for each of the two reread jobs of a replica. */
    paymentRereadsPerSecond: env.integer("PAYMENT_REREADS_PER_SECOND", { fallback: 40, min: 1, max: 100 }),
  },
}));

/** Accepted forms of MAIL_FROM: an address, or a name and an address in angle brackets. */
const senderForm = /^[^<>@\r\n]*<[^<>@\s]+@[^<>@\s]+>$|^[^<>@\s]+@[^<>@\s]+$/;

function readMailSettings(env: EnvReader): MailSettings | undefined {
  const url = env.optional("SMTP_URL");
  const from = env.optional("MAIL_FROM");
  const timeoutMs = env.integer("SMTP_TIMEOUT_MS", { fallback: 10_000, min: 100, max: 60_000 });
  if (url === undefined && from === undefined) return undefined;
  if (url === undefined) env.problem("SMTP_URL must be set, because MAIL_FROM is set");
  if (from === undefined) env.problem("MAIL_FROM must be set, because SMTP_URL is set");
  // The messages do not contain the values, because SMTP_URL may contain a password.
  else if (!senderForm.test(from))
    env.problem("MAIL_FROM must be an e-mail address, or a name and an e-mail address in angle brackets");
  const protocol = URL.parse(url ?? "")?.protocol;
  if (url !== undefined && protocol !== "smtp:" && protocol !== "smtps:") {
    env.problem("SMTP_URL must start with smtp:// or smtps://");
  }
  return { url: url ?? "", from: from ?? "", requireTls: env.isProduction, timeoutMs };
}

const readTimeoutMs = (env: EnvReader) => env.integer("SATIM_TIMEOUT_MS", { fallback: 30_000, min: 100, max: 60_000 });

const resendsMax = 2;

function readResendAfterSeconds(env: EnvReader): number[] {
  const pauses = env.seconds("REFUND_RESEND_AFTER_SECONDS", "30,300");
  if (pauses.length > resendsMax) env.problem(`REFUND_RESEND_AFTER_SECONDS must list at most ${resendsMax} pauses`);
  if (pauses.some((seconds) => seconds * 1000 < readTimeoutMs(env))) {
    env.problem("REFUND_RESEND_AFTER_SECONDS must not contain a pause shorter than SATIM_TIMEOUT_MS");
  }
  return pauses;
}

function readLateEffectSeconds(env: EnvReader): number {
  // RefundPayment does not read all refunds that are older than 24 hours.
  const seconds = env.integer("REFUND_LATE_EFFECT_SECONDS", { fallback: 1_200, max: 86_400 });
  if (seconds * 1000 < readTimeoutMs(env)) env.problem("REFUND_LATE_EFFECT_SECONDS must not be shorter than SATIM_TIMEOUT_MS");
  return seconds;
}

function readFormUrlTemplate(env: EnvReader): string {
  const template = env.string("SATIM_FORM_URL_TEMPLATE");
  if (template !== "" && !template.includes("{mdOrder}")) env.problem("SATIM_FORM_URL_TEMPLATE must contain {mdOrder}");
  if (env.isProduction && template.startsWith("http:"))
    env.problem("SATIM_FORM_URL_TEMPLATE must be an https address in production");
  return template;
}
