import { CustomerFieldRule } from "@amana/contracts/payments/v1/payment_link_pb";
import { customerFieldRules, PaymentLinkJson, parseMoney, paymentLinkStatuses, renderPaymentLink } from "@amana/public-api";
import { Type } from "typebox";
import { field, optionalFields } from "../form/field.ts";
import {
  anyCaseChoice,
  chargedAmountField,
  choice,
  integer,
  nameText,
  opaqueObject,
  processorText,
  search,
  timestamp,
} from "../form/fields.ts";
import { readOpaqueText } from "../form/opaque-text.ts";
import { webUrl } from "../form/web-url.ts";
import type { App, Gateway } from "../gateway.ts";
import { addChangeRoute, addCreateRoute, addListRoute, addReadRoute } from "../operations.ts";

const currency = "DZD";
const paymentsMax = 1_000_000;
const link = { tag: "Payment links", response: PaymentLinkJson, render: renderPaymentLink } as const;

type Rule = (typeof customerFieldRules)[number];
interface CustomerFields {
  readonly name?: Rule;
  readonly email?: Rule;
  readonly phone?: Rule;
}

const name = () =>
  nameText({ max: 120, description: "Item or service that is sold, shown to the buyer.", examples: ["Cours d'arabe"] });

const customerFields = () => {
  const rule = () => Type.Optional(Type.Enum(customerFieldRules));
  return field(
    Type.Object(
      { name: rule(), email: rule(), phone: rule() },
      {
        additionalProperties: false,
        description: "Whether the page requests name, e-mail address and phone number of the buyer; HIDDEN by default.",
        examples: [{ email: "REQUIRED", phone: "OPTIONAL" }],
      },
    ),
    { message: `must be an object with name, email or phone, each one of ${customerFieldRules.join(", ")}` },
  );
};

/**
 * Converts the rules of the customer fields to the enum numbers of the RPC. Absent rules stay
 * absent.
 */
function readCustomerFields(fields: CustomerFields | null | undefined) {
  return fields && Object.fromEntries(Object.entries(fields).map(([key, rule]) => [key, CustomerFieldRule[rule as Rule]]));
}

const readAmount = (amount: string | undefined) => (amount === undefined ? undefined : parseMoney(amount, currency));

export async function paymentLinks(app: App, { rpc: { paymentLinks: rpc }, allowInsecureUrls }: Gateway): Promise<void> {
  const page = (purpose: string, example: string) => webUrl(allowInsecureUrls, purpose, example);
  /** The optional fields that can be changed later. */
  const changeable = () => ({
    description: processorText(512, "Description of the item or service, shown to the buyer."),
    customer_fields: customerFields(),
    success_url: page(
      "Page for the buyer after a successful payment; by default the buyer stays on the result page.",
      "https://shop.example/paid",
    ),
    fail_url: page(
      "Page for the buyer after any other outcome; by default the buyer stays on the result page.",
      "https://shop.example/failed",
    ),
    conditions_url: page(
      "Your conditions of sale. The buyer accepts them before the payment.",
      "https://shop.example/conditions",
    ),
    max_payments: integer(1, paymentsMax, { description: "Number of payments after which the link is COMPLETED." }),
    expires_at: timestamp({
      description: "Time at which the link expires. Must be in the future.",
      examples: ["2099-01-01T00:00:00Z"],
    }),
    metadata: opaqueObject({
      description:
        "Your own data, returned unchanged, and sent in the webhooks of the link's payments. At most 16 KiB and 8 levels deep.",
      examples: [{ campaign: "ramadan" }],
    }),
  });

  addCreateRoute(app, "", {
    ...link,
    rpc: rpc.createPaymentLink,
    summary: "Create a payment link",
    description:
      "Creates a page on which buyers pay. Send `url` to your buyers. The link has a fixed price (`amount`) or a range in " +
      "which the buyer enters the amount (`amount_min` and `amount_max`). The same link can be paid many times.",
    body: {
      name: name(),
      amount: Type.Optional(chargedAmountField("Fixed price.")),
      amount_min: Type.Optional(chargedAmountField("Lowest amount that the buyer can enter.")),
      amount_max: Type.Optional(chargedAmountField("Highest amount that the buyer can enter.")),
      currency: Type.Optional(choice([currency], "Currency (ISO 4217).")),
      language: Type.Optional(anyCaseChoice(["AR", "FR", "EN"], "First language of the page, FR by default.")),
      order_ref: Type.Optional(processorText(20, "Your own identifier of the order, copied to each payment.")),
      ...optionalFields(changeable()),
    },
    execute: ({ language = "FR", currency: _, amount, amount_min, amount_max, customer_fields, ...fields }, { send, request }) =>
      send({
        ...fields,
        language,
        amount_minor: readAmount(amount),
        amount_min_minor: readAmount(amount_min),
        amount_max_minor: readAmount(amount_max),
        customer_fields: readCustomerFields(customer_fields),
        metadata: readOpaqueText(request, "metadata"),
      }),
  });

  addListRoute(app, "", {
    ...link,
    rpc: rpc.listPaymentLinks,
    // No index contains the status, because it depends on the time.
    config: { hasCostlyFilters: true },
    summary: "List payment links",
    description: "Returns the payment links of your business that match all filters, newest first.",
    filters: {
      status: choice(paymentLinkStatuses),
      search: search({ description: "Part of the name or of order_ref. Case is ignored." }),
    },
  });

  addReadRoute(app, "/:id", {
    ...link,
    rpc: rpc.getPaymentLink,
    summary: "Get a payment link",
    description: "Returns a payment link with its status and the totals of its payments.",
  });

  addChangeRoute(app, "PATCH", "/:id", {
    ...link,
    rpc: rpc.updatePaymentLink,
    summary: "Update a payment link",
    description:
      "Changes the fields in the request. Absent fields stay unchanged; null clears an optional field. `customer_fields` " +
      "changes only the rules that it contains. Amounts, currency, language and `order_ref` cannot change, because a buyer " +
      "may have accepted them. INACTIVE makes the link unavailable to buyers at once. A higher `max_payments` or a later " +
      "`expires_at` makes a COMPLETED or EXPIRED link ACTIVE again.",
    body: { name: name(), status: choice(["ACTIVE", "INACTIVE"], "Whether buyers can pay."), ...changeable() },
    execute: ({ customer_fields, ...fields }, { send, request }) =>
      send({ ...fields, customer_fields: readCustomerFields(customer_fields), metadata: readOpaqueText(request, "metadata") }),
  });
}
