import { isUuid } from "@amana/runtime";
import type { Message } from "./message.ts";

/** As PostgreSQL writes it: compared with another spelling, a new message would pass for a known one. */
export function eventIdOf(message: Message): string | undefined {
  const id = message.headers["ce_id"];
  return isUuid(id) ? id.toLowerCase() : undefined;
}

/** Ids as the text of a PostgreSQL array. */
export const uuidArray = (ids: readonly string[]): string => `{${ids.join(",")}}`;
