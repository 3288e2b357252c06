import type { Card } from "./cards.ts";
import { checkoutPoints } from "./checkout-points.ts";
import type { Point } from "./point.ts";
import { cardPoint, resultPoints } from "./result-points.ts";

/** Returns all points in the order in which the evidence lists them. */
export function createPoints(cards: readonly Card[], email: string | undefined): readonly Point[] {
  const accepted = cards.find(({ isAccepted }) => isAccepted);
  const rejected = cards.find(({ isAccepted }) => !isAccepted);
  return [
    ...checkoutPoints,
    ...cards.map((card) => cardPoint(card, card === accepted || card === rejected ? "each" : "first")),
    ...(accepted ? resultPoints(accepted, email) : []),
  ];
}
