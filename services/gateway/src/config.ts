import { existsSync } from "node:fs";
import { join } from "node:path";
import { readCallerKey, readServiceUrls, readTlsFiles } from "@amana/rpc";
import { type EnvReader, readLogLevel, readMetricsAddress, readTracing, settings } from "@amana/runtime";

import { canonicalCidr } from "./key-lease/allowed-ips.ts";

/** Names of the files in CARD_MARKS_DIR. */
export const cardMarkFiles = ["cib.svg", "edahabia.svg"] as const;

const rateMax = 1_000_000;
const mebibyte = 1024 * 1024;
const bytesMax = 1024 * mebibyte;

export type Config = ReturnType<typeof readConfig>;

export const readConfig = settings((env) => {
  const tls = readTlsFiles(env);
  const tracing = readTracing(env);
  return {
    host: readHost(env),
    port: env.integer("PORT", { fallback: 8080, max: 65_535 }),
    services: {
      identity: readServiceUrls(env, "IDENTITY_URLS", tls),
      kyc: readServiceUrls(env, "KYC_URLS", tls),
      clients: readServiceUrls(env, "CLIENTS_URLS", tls),
      payments: readServiceUrls(env, "PAYMENTS_URLS", tls),
      webhooks: readServiceUrls(env, "WEBHOOKS_URLS", tls),
    },
    tls,
    callerKey: readCallerKey(env),
    /**
     * Keys of request fingerprints. During a rotation, fingerprints computed with the second key
     * are also accepted.
     */
    fingerprintKeys: env.keys("FINGERPRINT_KEYS", 32),
    checkout: {
      /**
       * Keys that sign the cookies and challenges on the pages of payment links. During a rotation,
       * signatures of the second key are also accepted.
       */
      keys: env.keys("CHECKOUT_KEYS", 32),
      cardFormOrigins: readCardFormOrigins(env),
      cardMarksDir: readCardMarksDir(env),
      hasCaptcha: env.choice("CHECKOUT_CAPTCHA", ["on", "off"], "on") === "on",
    },
    logLevel: readLogLevel(env),
    metrics: readMetricsAddress(env),
    tracing,
    /** Fraction of traces that are sampled. Services use the gateway's decision. */
    traceRatio: tracing ? env.fraction("TRACE_RATIO", 0.01) : 0,
    /** Permits http in URLs that businesses set, for a sandbox on one machine. */
    allowInsecureUrls: env.sandboxOnly("ALLOW_INSECURE_URLS"),
    sandboxUrl: sandboxUrl(env),
    trustedProxies: readTrustedProxies(env),
    rateLimits: {
      perSecond: env.integer("RATE_LIMIT_PER_SECOND", { fallback: 100, max: rateMax }),
      burst: env.integer("RATE_LIMIT_BURST", { fallback: 200, max: rateMax }),
      failedAuthPerMinute: env.integer("RATE_LIMIT_FAILED_AUTH_PER_MINUTE", { fallback: 20, max: rateMax }),
      kycPerSecond: env.integer("RATE_LIMIT_KYC_PER_SECOND", { fallback: 10, max: rateMax }),
      refundPerSecond: env.integer("RATE_LIMIT_REFUND_PER_SECOND", { fallback: 10, max: rateMax }),
      creationPerSecond: env.integer("RATE_LIMIT_CREATION_PER_SECOND", { fallback: 50, max: rateMax }),
      searchPerSecond: env.integer("RATE_LIMIT_SEARCH_PER_SECOND", { fallback: 20, max: rateMax }),
      keylessPerSecond: env.integer("RATE_LIMIT_KEYLESS_PER_SECOND", { fallback: 10, max: rateMax }),
      checkoutPerMinute: env.integer("RATE_LIMIT_CHECKOUT_PER_MINUTE", { fallback: 10, max: rateMax }),
      checkoutLinkPerSecond: env.integer("RATE_LIMIT_CHECKOUT_LINK_PER_SECOND", { fallback: 50, max: rateMax }),
      keylessTotalPerSecond: env.integer("RATE_LIMIT_KEYLESS_TOTAL_PER_SECOND", { fallback: 500, max: rateMax }),
    },
    /** Maximum number of requests in flight, in total and for one caller. */
    loadBounds: {
      total: env.integer("REQUESTS_AT_ONCE_MAX", { fallback: 2_048, min: 1, max: rateMax }),
      perCaller: env.integer("REQUESTS_AT_ONCE_PER_CALLER_MAX", { fallback: 256, min: 1, max: rateMax }),
    },
    /** Maximum numbers of bytes in memory. Request bodies and unsent responses count. */
    byteBounds: {
      perBusiness: env.integer("BYTES_AT_ONCE_PER_BUSINESS_MAX", { fallback: 16 * mebibyte, min: mebibyte, max: bytesMax }),
      perNetwork: env.integer("BYTES_AT_ONCE_PER_NETWORK_MAX", { fallback: 4 * mebibyte, min: mebibyte, max: bytesMax }),
      total: env.integer("BYTES_AT_ONCE_MAX", { fallback: 128 * mebibyte, min: 4 * mebibyte, max: bytesMax }),
    },
    connectionBounds: {
      /** Maximum number of open connections of one network; 0 for no limit. */
      perNetwork: env.integer("CONNECTIONS_PER_NETWORK_MAX", { fallback: 256, max: rateMax }),
      /**
       * Maximum time to receive a whole request. Afterwards the gateway responds with status 408.
       */
      requestMs: env.integer("REQUEST_TIMEOUT_MS", { fallback: 30_000, min: 100, max: 600_000 }),
      /**
       * Maximum time in which a caller reads nothing of a response. Afterwards the gateway closes
       * the connection.
       */
      stallMs: env.integer("RESPONSE_STALL_MS", { fallback: 30_000, min: 100, max: 600_000 }),
    },
    stopDelayMs: env.integer("STOP_DELAY_MS", { fallback: 0, max: 20_000 }),
  };
});

/**
 * Returns the address on which the gateway listens: HOST, or 127.0.0.1 for "localhost". For
 * "localhost", Fastify would open a second server on ::1, and the limits of connections would not
 * apply to that server.
 */
function readHost(env: EnvReader): string {
  const host = env.string("HOST", "127.0.0.1");
  return host === "localhost" ? "127.0.0.1" : host;
}

/** Reads the address of the sandbox, to which the first page links. */
function sandboxUrl(env: EnvReader): string | undefined {
  if (env.optional("SANDBOX_URL") === undefined) return undefined;
  env.refuseInProduction("SANDBOX_URL");
  return env.url("SANDBOX_URL");
}

/**
 * Reads the origins of the processor's card form. The pages of payment links permit redirects of
 * forms to these origins only.
 */
function readCardFormOrigins(env: EnvReader): string[] {
  const origins = env.urls("CARD_FORM_ORIGINS");
  for (const origin of origins) {
    // A wildcard or a semicolon would change the Content-Security-Policy of the pages.
    if (URL.parse(origin)?.origin !== origin || /[*;,'"]/.test(origin))
      env.problem(`CARD_FORM_ORIGINS must list origins without a path or wildcard, not "${origin}"`);
    if (env.isProduction && origin.startsWith("http:")) {
      env.problem(`CARD_FORM_ORIGINS must list https origins in production, not "${origin}"`);
    }
  }
  return origins;
}

/**
 * Returns the folder with the official card logos, or undefined if CARD_MARKS_DIR is not set.
 * Without logos, the pages show the names of the cards.
 */
function readCardMarksDir(env: EnvReader): string | undefined {
  const dir = env.optional("CARD_MARKS_DIR");
  for (const name of dir === undefined ? [] : cardMarkFiles) {
    if (!existsSync(join(dir as string, name))) env.problem(`CARD_MARKS_DIR must contain ${cardMarkFiles.join(" and ")}`);
  }
  return dir;
}

/**
 * Returns the proxies whose header X-Forwarded-For is trusted. A trusted proxy can send any address
 * in this header, so the list must not contain all addresses. Other programs accept the number of
 * proxies in such a setting. The gateway rejects a number, because it would be interpreted as an
 * address.
 */
function readTrustedProxies(env: EnvReader): string[] {
  const proxies = env.list("TRUSTED_PROXIES");
  for (const entry of proxies) {
    const cidr = canonicalCidr(entry);
    if (!cidr) env.problem(`TRUSTED_PROXIES must list addresses and networks such as 10.0.0.0/8, not "${entry}"`);
    else if (cidr.endsWith("/0")) env.problem(`TRUSTED_PROXIES must not list "${entry}", which contains all addresses`);
  }
  return proxies;
}
