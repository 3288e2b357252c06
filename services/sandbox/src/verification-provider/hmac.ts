import { createHmac } from "node:crypto";

export const hmacHex = (text: string, secret: string): string => createHmac("sha256", secret).update(text).digest("hex");
