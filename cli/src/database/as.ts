import { hostname, userInfo } from "node:os";
import type { Action } from "@amana/messaging";
import { isUuid, uuidv7 } from "@amana/runtime/uuid";
import { Refused } from "../refused.ts";

/** Who works with the command, for the audit trail: "command:amina", and the machine's name. */
export function byPerson(as: string): Action["by"] {
  return { actor: `command:${as.slice(0, 60)}`, requestId: uuidv7(), address: hostname().slice(0, 100) };
}

/** The default of --as. In a container the user may have no name. */
export function systemUser(): string {
  try {
    return userInfo().username;
  } catch {
    return `uid-${process.getuid?.() ?? "unknown"}`;
  }
}

export function requireUuid(id: string): string {
  if (!isUuid(id)) throw new Refused(`"${id}" is not an id. Copy one from the list.`);
  return id;
}
