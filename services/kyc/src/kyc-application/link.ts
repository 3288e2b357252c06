import { decryptIfReadable } from "@amana/secret-box";
import type { Context } from "../context.ts";

/**
 * Returns the link of an application, or undefined if the link was removed. Also returns undefined
 * if no configured key can decrypt the link, so that a request does not fail because of an
 * unreadable link.
 */
export const linkOf = (
  { secrets, logger }: Pick<Context, "secrets" | "logger">,
  { id, linkCiphertext }: { id: string; linkCiphertext?: string | null },
): string | undefined => (linkCiphertext == null ? undefined : decryptIfReadable(secrets, linkCiphertext, id, logger));
