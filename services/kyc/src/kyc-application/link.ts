import { decryptIfReadable } from "@amana/secret-box";
import type { Context } from "../context.ts";

/**
 * An application's link. Undefined once it was removed, some time after the end, and when its key
 * is not among ours: an unreadable link hides no list and no application.
 */
export const linkOf = (
  { secrets, logger }: Pick<Context, "secrets" | "logger">,
  { id, linkCiphertext }: { id: string; linkCiphertext?: string | null },
): string | undefined => (linkCiphertext == null ? undefined : decryptIfReadable(secrets, linkCiphertext, id, logger));
