import { ListRefundsRequestSchema } from "@amana/contracts/payments/v1/refund_service_pb";
import { defineList } from "@amana/database";
import { refundView } from "./refund.message.ts";

export const refundList = defineList(refundView, ListRefundsRequestSchema, {
  needsDecision: "(needs_decision_since is not null) = ?",
});
