import { hostname, userInfo } from "node:os";
import type { Action } from "@amana/messaging";
import { uuidv7 } from "@amana/runtime/uuid";

/**
 * Returns the actor of an audit row, such as "command:amina", with a new request id and this
 * machine's name as the address.
 */
export function auditActor(as: string): Action["by"] {
  return { actor: `command:${as.slice(0, 60)}`, requestId: uuidv7(), address: hostname().slice(0, 100) };
}

/** Returns the default of `--as`. A user in a container may have an id but no name. */
export function systemUser(): string {
  try {
    return userInfo().username;
  } catch {
    return `uid-${process.getuid?.() ?? "unknown"}`;
  }
}
