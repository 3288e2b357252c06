import type { FastifyRequest } from "fastify";
import { networkOf } from "./network.ts";

/** Whom a request counts for: a business with all its keys, an operator's key, or else the network it came from. */
export function callerKey({ caller, ip }: FastifyRequest): string {
  if (caller?.role === "business") return caller.businessId;
  return caller?.role === "admin" ? caller.keyId : networkOf(ip);
}
