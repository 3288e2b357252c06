/**
 * Returns the brand of a card. CIB numbers begin with 6280, and Edahabia numbers begin with 5078.
 */
export function cardBrandOf(maskedPan: string): "CIB" | "EDAHABIA" | null {
  if (maskedPan.startsWith("6280")) return "CIB";
  if (maskedPan.startsWith("5078")) return "EDAHABIA";
  return null;
}
