import { enumNames } from "@amana/contracts/enum-names";
import { type KeyLeaseService, KeyRole, KeyState } from "@amana/contracts/identity/v1/key_lease_service_pb";
import { type Implementation, requirePlatform } from "@amana/rpc";
import type { BusinessStatus } from "../business/business.ts";
import type { Context } from "../context.ts";
import { type FoundKey, findKeys } from "../key-lease/queries.ts";
import { resolvedKeys } from "../metrics.ts";

const businessKeyStates: Record<BusinessStatus, KeyState> = {
  PENDING: KeyState.BUSINESS_PENDING,
  ACTIVE: KeyState.LIVE,
  DISABLED: KeyState.BUSINESS_DISABLED,
  REJECTED: KeyState.BUSINESS_REJECTED,
};

const stateNames = new Map<KeyState, string>(enumNames(KeyState).map((name) => [KeyState[name], name.toLowerCase()]));

export const resolveKeys =
  ({ orm, leases, keyUse }: Context): Implementation<typeof KeyLeaseService.method.resolveKeys> =>
  async (request, call) => {
    requirePlatform(call.caller);
    const keys = await findKeys(orm.em, request.keyHashes);
    const resolutions = keys.map((key) => ({
      state: stateOf(key),
      role: key.id === null ? KeyRole.UNSPECIFIED : key.isAdmin ? KeyRole.ADMIN : KeyRole.BUSINESS,
      keyId: key.id ?? "",
      keyPrefix: key.prefix ?? "",
      businessId: key.businessId ?? "",
      organizationId: key.organizationId ?? 0,
      allowedIps: key.allowedIps ?? [],
      expiresInMs: key.expiresInMs === null ? undefined : BigInt(Math.max(0, key.expiresInMs)),
    }));
    for (const key of keys) resolvedKeys.inc({ state: stateNames.get(stateOf(key)) ?? "unknown" });
    keyUse.add(keys.filter((key) => key.isUseDue && isLive(stateOf(key))).map((key) => key.id as string));
    return { resolutions, leaseMs: leases.leaseMs };
  };

function stateOf(key: FoundKey): KeyState {
  if (key.id === null) return KeyState.UNKNOWN;
  if (key.isRevoked) return KeyState.REVOKED;
  if (key.expiresInMs !== null && key.expiresInMs <= 0) return KeyState.EXPIRED;
  const state = key.businessStatus === null ? KeyState.LIVE : businessKeyStates[key.businessStatus];
  return state === KeyState.LIVE && key.allowedIps ? KeyState.LIVE_FROM_ALLOWED_IPS : state;
}

const isLive = (state: KeyState) => state === KeyState.LIVE || state === KeyState.LIVE_FROM_ALLOWED_IPS;
