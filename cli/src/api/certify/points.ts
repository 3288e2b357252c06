import type { Card } from "./cards.ts";
import { checkoutPoints } from "./checkout-points.ts";
import type { Point } from "./point.ts";
import { cardPoint, resultPoints } from "./result-points.ts";

/** Returns all points in the order in which the evidence lists them. */
export function createPoints(cards: readonly Card[], email: string | undefined): readonly Point[] {
  const acceptedCard = cards.find(({ isAccepted }) => isAccepted);
  const rejectedCard = cards.find(({ isAccepted }) => !isAccepted);
  return [
    ...checkoutPoints,
    ...cards.map((card) => cardPoint(card, card === acceptedCard || card === rejectedCard ? "each" : "first")),
    ...(acceptedCard ? resultPoints(acceptedCard, email) : []),
  ];
}
