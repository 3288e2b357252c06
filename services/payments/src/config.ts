import { readTransportOptions } from "@amana/messaging";
import { readTlsFiles, readVouchingKeys } from "@amana/rpc";
import { type EnvReader, type EnvSource, readEnv } from "@amana/runtime";

export type Config = ReturnType<typeof readConfig>;

/** The settings of the payments service; `.env.example` explains each. */
export function readConfig(source?: EnvSource) {
  return readEnv(
    (env) => ({
      host: env.string("HOST", "127.0.0.1"),
      rpcPort: env.integer("RPC_PORT", { max: 65_535 }),
      databaseUrl: env.string("DATABASE_URL"),
      callerKeys: readVouchingKeys(env, "GATEWAY_PUBLIC_KEYS", "anyone"),
      tls: readTlsFiles(env),
      logLevel: env.choice("LOG_LEVEL", ["trace", "debug", "info", "warn", "error", "fatal", "silent"], "info"),
      events: readTransportOptions(env),
      /** Where card holders' browsers come back to: the gateway's public address. */
      publicUrl: env.outsideUrl("PUBLIC_URL"),
      satim: {
        url: env.outsideUrl("SATIM_URL"),
        userName: env.string("SATIM_USERNAME"),
        password: env.string("SATIM_PASSWORD"),
        terminalId: env.string("SATIM_TERMINAL_ID"),
        /** The form's address of an order whose registration answer was lost; {mdOrder} stands for the order's id. */
        formUrlTemplate: formUrlTemplate(env),
        timeoutMs: timeoutMs(env),
        connectTimeoutMs: env.integer("SATIM_CONNECT_TIMEOUT_MS", { fallback: 10_000, min: 100, max: 60_000 }),
      },
      schedule: {
        /** Pauses between the status reads of a PENDING payment nobody came back for. */
        paymentCheckSeconds: env.seconds("PAYMENT_CHECK_SECONDS", "60,120,300,600"),
        /** How long a card holder has; a payment still unpaid after it expires. */
        paymentWindowSeconds: env.integer("PAYMENT_WINDOW_SECONDS", { fallback: 1_230, min: 1 }),
        /** Pauses between the status reads of a refund whose outcome is unknown; the last one repeats. */
        refundCheckSeconds: env.seconds("REFUND_CHECK_SECONDS", "5,10,15,60"),
        /** A refund that got no answer at all may still be under way; it is not sent again before this. */
        refundResendAfterSeconds: refundResendAfterSeconds(env),
      },
    }),
    source,
  );
}

const timeoutMs = (env: EnvReader) => env.integer("SATIM_TIMEOUT_MS", { fallback: 30_000, min: 100, max: 60_000 });

function refundResendAfterSeconds(env: EnvReader): number {
  const seconds = env.integer("REFUND_RESEND_AFTER_SECONDS", { fallback: 30 });
  if (seconds * 1000 < timeoutMs(env)) env.problem("REFUND_RESEND_AFTER_SECONDS must not be shorter than SATIM_TIMEOUT_MS");
  return seconds;
}

function formUrlTemplate(env: EnvReader): string {
  const template = env.string("SATIM_FORM_URL_TEMPLATE");
  if (template !== "" && !template.includes("{mdOrder}")) env.problem("SATIM_FORM_URL_TEMPLATE must contain {mdOrder}");
  if (env.isProduction && template.startsWith("http:"))
    env.problem("SATIM_FORM_URL_TEMPLATE must be an https address in production");
  return template;
}
