import type { FastifyReply } from "fastify";
import { canary } from "../dialect.ts";

/** Sets the status and returns an error body without a field. */
export function refuse(reply: FastifyReply, status: number, message: string): object {
  reply.code(status);
  return { detail: `${message} (${canary("error")})` };
}

/** Sets the status 400 and returns an error body about a field. */
export function refuseField(reply: FastifyReply, field: string, message: string): object {
  reply.code(400);
  return { [field]: [`${message} (${canary("error")})`] };
}
