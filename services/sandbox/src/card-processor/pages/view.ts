import type { Language } from "../../pages/language.ts";
import type { Order } from "../order.ts";
import type { Words } from "./words/words.ts";

/** What every part of the payment page is drawn from. */
export interface View {
  readonly order: Order;
  readonly language: Language;
  readonly words: Words;
  readonly nowMs: number;
}

export const pathOf = (order: Order) => `/payment/pay/${order.orderId}`;

/** Where a form of the page posts to; the language goes along. */
export const actionOf = ({ order, language }: View, step: string) => `${pathOf(order)}/${step}?lang=${language}`;
