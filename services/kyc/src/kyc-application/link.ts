import { decryptIfReadable } from "@amana/secret-box";
import type { Context } from "../context.ts";

/**
 * An application's link. Undefined once it was removed, some time after the application ended, and when the key it was
 * encrypted with is not among ours: an unreadable link takes no list and no application with it.
 */
export const linkOf = (
  { secrets, logger }: Pick<Context, "secrets" | "logger">,
  { id, linkCiphertext }: { id: string; linkCiphertext?: string | null },
): string | undefined => (linkCiphertext == null ? undefined : decryptIfReadable(secrets, linkCiphertext, id, logger));
