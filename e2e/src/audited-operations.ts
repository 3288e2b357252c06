/**
 * Operations that add an audit event: changes by operators, and changes of a key or an endpoint.
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
  "testWebhookEndpoint",
  "checkWebhookEndpoint",
  "redeliverEvent",
] as const;
