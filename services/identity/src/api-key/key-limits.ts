import { BlockList, isIPv6 } from "node:net";
import { databaseTime } from "@amana/database";
import { dateOf } from "@amana/runtime";
import type { SqlEntityManager } from "@mikro-orm/postgresql";
import { apiKeyEndInvalid, apiKeyOutlivesIssuer, apiKeyWiderThanIssuer } from "./api-key.errors.ts";

/** Until when and from where a key may be used; without bounds where nothing is said. */
export interface KeyLimits {
  readonly expiresAt?: Date | null | undefined;
  /** CIDRs in canonical form. */
  readonly allowedIps?: string[] | null | undefined;
}

/** Times are shown with a year of four digits. */
const endMax = new Date("9999-12-31T23:59:59.999Z");

/** Of a key that is asked for. Throws a refusal for an end that has passed. */
export async function readKeyLimits(
  em: SqlEntityManager,
  { expiresAtMs, allowedIps }: { readonly expiresAtMs?: bigint | undefined; readonly allowedIps: string[] },
): Promise<KeyLimits> {
  const expiresAt = dateOf(expiresAtMs);
  if (expiresAt) {
    // By the clock that decides whether a key has expired.
    const now = await databaseTime(em);
    if (!(expiresAt > now && expiresAt <= endMax)) throw apiKeyEndInvalid();
  }
  return { expiresAt, allowedIps: allowedIps.length > 0 ? allowedIps : null };
}

/**
 * Refuses limits that are wider than those of the key that issues it. Else whoever was lent a key
 * for a while, or for one network, would make themselves one without.
 */
export function requireWithin({ expiresAt, allowedIps }: KeyLimits, issuer: KeyLimits): void {
  if (issuer.expiresAt && !(expiresAt && expiresAt <= issuer.expiresAt)) throw apiKeyOutlivesIssuer(issuer.expiresAt);
  if (!issuer.allowedIps) return;
  const networks = issuer.allowedIps.map(networkOf);
  const isWithin = (cidr: string) => {
    const { address, bits, family } = networkOf(cidr);
    return networks.some((wider) => wider.family === family && wider.bits <= bits && wider.list.check(address, family));
  };
  if (!allowedIps?.every(isWithin)) throw apiKeyWiderThanIssuer(issuer.allowedIps);
}

function networkOf(cidr: string) {
  const [address = "", length] = cidr.split("/");
  const family: "ipv4" | "ipv6" = isIPv6(address) ? "ipv6" : "ipv4";
  const list = new BlockList();
  list.addSubnet(address, Number(length), family);
  return { address, bits: Number(length), family, list };
}
