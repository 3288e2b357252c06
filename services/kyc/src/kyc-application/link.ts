import { decryptIfReadable } from "@amana/secret-box";
import type { Context } from "../context.ts";

/**
 * Returns the link of an application. Returns undefined if the link was removed, or if no
 * configured key decrypts it, so that a request does not fail because of an unreadable link.
 */
export const linkOf = (
  { secrets, logger }: Pick<Context, "secrets" | "logger">,
  { id, linkCiphertext }: { id: string; linkCiphertext?: string | null },
): string | undefined => (linkCiphertext == null ? undefined : decryptIfReadable(secrets, linkCiphertext, id, logger));
