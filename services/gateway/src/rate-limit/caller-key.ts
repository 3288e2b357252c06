import type { FastifyRequest } from "fastify";
import { networkOf } from "./network.ts";

/** Whom a request counts for: a business, an operator's key, or else the network it is from. */
export function callerKey({ caller, ip }: FastifyRequest): string {
  if (caller?.role === "business") return caller.businessId;
  return caller?.role === "admin" ? caller.keyId : networkOf(ip);
}
