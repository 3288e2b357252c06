import { BlockList, isIPv6 } from "node:net";
import { databaseTime } from "@amana/database";
import { dateOf } from "@amana/runtime";
import type { SqlEntityManager } from "@mikro-orm/postgresql";
import { apiKeyExpiryInvalid, apiKeyOutlivesIssuer, apiKeyWiderThanIssuer } from "./api-key.errors.ts";

/** Expiry and permitted networks of a key. An absent value does not restrict the key. */
export interface KeyLimits {
  readonly expiresAt?: Date | null;
  /** CIDRs in canonical form. */
  readonly allowedIps?: string[] | null;
}

/** Latest possible expiry, because times in the API have a four-digit year. */
const expiresAtMax = new Date("9999-12-31T23:59:59.999Z");

/**
 * Returns the limits that a request sets for a new key. Throws if the expiry is not in the future,
 * or is later than `expiresAtMax`.
 */
export async function readKeyLimits(
  em: SqlEntityManager,
  { expiresAtMs, allowedIps }: { readonly expiresAtMs?: bigint; readonly allowedIps: string[] },
): Promise<KeyLimits> {
  const expiresAt = dateOf(expiresAtMs);
  if (expiresAt) {
    // Compares with the database's clock, which also determines whether a key has expired.
    const now = await databaseTime(em);
    if (!(expiresAt > now && expiresAt <= expiresAtMax)) throw apiKeyExpiryInvalid();
  }
  return { expiresAt, allowedIps: allowedIps.length > 0 ? allowedIps : null };
}

/**
 * Throws if the limits of a new key exceed the limits of the issuing key. Otherwise the holder of a
 * limited key could issue an unlimited key.
 */
export function requireWithinIssuer({ expiresAt, allowedIps }: KeyLimits, issuer: KeyLimits): void {
  if (issuer.expiresAt && !(expiresAt && expiresAt <= issuer.expiresAt)) throw apiKeyOutlivesIssuer(issuer.expiresAt);
  if (!issuer.allowedIps) return;
  const networks = issuer.allowedIps.map(parseNetwork);
  const isWithin = (cidr: string) => {
    const { address, bits, family } = parseNetwork(cidr);
    return networks.some((network) => network.family === family && network.bits <= bits && network.list.check(address, family));
  };
  if (!allowedIps?.every(isWithin)) throw apiKeyWiderThanIssuer(issuer.allowedIps);
}

function parseNetwork(cidr: string) {
  const [address = "", length] = cidr.split("/");
  const family: "ipv4" | "ipv6" = isIPv6(address) ? "ipv6" : "ipv4";
  const list = new BlockList();
  list.addSubnet(address, Number(length), family);
  return { address, bits: Number(length), family, list };
}
