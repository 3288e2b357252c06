import { isUuid } from "@amana/runtime";
import type { Message } from "./message.ts";

/** Spelled as PostgreSQL does; otherwise a known message could pass for a new one. */
export function eventIdOf(message: Message): string | undefined {
  const id = message.headers["ce_id"];
  return isUuid(id) ? id.toLowerCase() : undefined;
}

/** Ids as the text of a PostgreSQL array. */
export const uuidArray = (ids: readonly string[]): string => `{${ids.join(",")}}`;
