import { type CustomerFields, CustomerFieldRule as RuleEnum } from "@amana/contracts/payments/v1/payment_link_pb";
import { requestedName } from "@amana/rpc";
import type { CustomerFieldRule } from "./payment-link.ts";

type Rules = { nameRule?: CustomerFieldRule; emailRule?: CustomerFieldRule; phoneRule?: CustomerFieldRule };

/** Returns the rules that a request contains for customer fields. */
export function customerFieldRulesOf(fields: CustomerFields | undefined): Rules {
  if (!fields) return {};
  const [nameRule, emailRule, phoneRule] = [fields.name, fields.email, fields.phone].map((rule) => requestedName(RuleEnum, rule));
  return { ...(nameRule && { nameRule }), ...(emailRule && { emailRule }), ...(phoneRule && { phoneRule }) };
}
