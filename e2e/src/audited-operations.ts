/**
 * Operations that add an audit event: all changes by operators, and a business's changes of its own
 * data, keys and endpoints.
 */
export const auditedOperations = [
  "onboardBusiness",
  "updateOwnBusiness",
  "createOwnApiKey",
  "revokeOwnApiKey",
  "createWebhookEndpoint",
  "updateWebhookEndpoint",
  "deleteWebhookEndpoint",
  "replayWebhookEndpoint",
  "createBusiness",
  "updateBusiness",
  "reviewKycApplication",
  "approveOnboarding",
  "declineOnboarding",
  "createApiKey",
  "revokeApiKey",
  "createOperatorKey",
  "revokeOperatorKey",
  "createInvitation",
  "revokeInvitation",
  "resolveRefund",
  "retryDeadLetter",
  "dropDeadLetter",
] as const;
export type AuditedOperation = (typeof auditedOperations)[number];

/** Operations that change other data of the business. They add no audit event. */
export const unauditedOperations = [
  "returnFromProcessorByForm",
  "createKycApplication",
  "cancelKycApplication",
  "createBeneficiary",
  "updateBeneficiary",
  "openAccount",
  "updateAccount",
  "activateAccount",
  "suspendAccount",
  "reactivateAccount",
  "closeAccount",
  "createPerson",
  "updatePerson",
  "createOnboardingDetails",
  "updateOnboardingDetails",
  "createPayment",
  "refreshPayment",
  "refundPayment",
  "createPaymentLink",
  "updatePaymentLink",
  "testWebhookEndpoint",
  "checkWebhookEndpoint",
  "redeliverEvent",
] as const;
