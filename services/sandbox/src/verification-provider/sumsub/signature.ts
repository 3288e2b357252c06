import { timingSafeEqual } from "node:crypto";
import type { Config } from "../../config.ts";
import { hmacHex } from "../hmac.ts";
import type { ProtocolRequest } from "../protocol-routes.ts";

const clockDifferenceSecondsMax = 60;

/**
 * Returns whether a request has the right app token and a valid signature of its time, method,
 * path, query and body (docs.sumsub.com/reference/authentication). The time is compared with the
 * machine's clock.
 */
export function isSigned({ headers, method, url, rawBody = "" }: ProtocolRequest, config: Config): boolean {
  const seconds = String(headers["x-app-access-ts"]);
  if (!/^\d{1,12}$/.test(seconds)) return false;
  if (Math.abs(Date.now() / 1000 - Number(seconds)) > clockDifferenceSecondsMax) return false;
  const signature = Buffer.from(String(headers["x-app-access-sig"]));
  const expected = Buffer.from(hmacHex(`${seconds}${method}${url}${rawBody}`, config.sumsubSecretKey));
  const isEqual = signature.length === expected.length && timingSafeEqual(signature, expected);
  return isEqual && headers["x-app-token"] === config.sumsubAppToken;
}
