import { decryptIfReadable } from "@amana/secret-box";
import type { Context } from "../context.ts";

/**
 * Returns the link of an application. Returns undefined after the link was removed, and if no
 * configured key decrypts it. A request must not fail because of an unreadable link.
 */
export const linkOf = (
  { secrets, logger }: Pick<Context, "secrets" | "logger">,
  { id, linkCiphertext }: { id: string; linkCiphertext?: string | null },
): string | undefined => (linkCiphertext == null ? undefined : decryptIfReadable(secrets, linkCiphertext, id, logger));
