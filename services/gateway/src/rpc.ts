import { AccountService } from "@amana/contracts/clients/v1/account_service_pb";
import { BeneficiaryService } from "@amana/contracts/clients/v1/beneficiary_service_pb";
import { ClientService } from "@amana/contracts/clients/v1/client_service_pb";
import { OnboardingService } from "@amana/contracts/clients/v1/onboarding_service_pb";
import { ApiKeyService } from "@amana/contracts/identity/v1/api_key_service_pb";
import { AuditEventService } from "@amana/contracts/identity/v1/audit_event_service_pb";
import { BusinessService } from "@amana/contracts/identity/v1/business_service_pb";
import { InvitationService } from "@amana/contracts/identity/v1/invitation_service_pb";
import { KeyLeaseService } from "@amana/contracts/identity/v1/key_lease_service_pb";
import { OperatorKeyService } from "@amana/contracts/identity/v1/operator_key_service_pb";
import { RateLimitService } from "@amana/contracts/identity/v1/rate_limit_service_pb";
import { KycApplicationService } from "@amana/contracts/kyc/v1/kyc_application_service_pb";
import { DeadLetterService } from "@amana/contracts/messaging/v1/dead_letter_service_pb";
import { CheckoutService } from "@amana/contracts/payments/v1/checkout_service_pb";
import { PaymentLinkService } from "@amana/contracts/payments/v1/payment_link_service_pb";
import { PaymentService } from "@amana/contracts/payments/v1/payment_service_pb";
import { ReceiptService } from "@amana/contracts/payments/v1/receipt_service_pb";
import { RefundService } from "@amana/contracts/payments/v1/refund_service_pb";
import { StatementService } from "@amana/contracts/payments/v1/statement_service_pb";
import { EventService } from "@amana/contracts/webhooks/v1/event_service_pb";
import { WebhookEndpointService } from "@amana/contracts/webhooks/v1/webhook_endpoint_service_pb";
import { createRpcClient, type RpcChannel } from "@amana/rpc";
import type { Config } from "./config.ts";

/** The RPC channel of each service. */
export type Channels = Readonly<Record<keyof Config["services"], RpcChannel>>;

export function createRpc({ identity, kyc, clients, payments, webhooks }: Channels) {
  return {
    keyLeases: createRpcClient(KeyLeaseService, identity),
    rateLimits: createRpcClient(RateLimitService, identity),
    businesses: createRpcClient(BusinessService, identity),
    apiKeys: createRpcClient(ApiKeyService, identity),
    invitations: createRpcClient(InvitationService, identity),
    auditEvents: createRpcClient(AuditEventService, identity),
    operatorKeys: createRpcClient(OperatorKeyService, identity),
    kycApplications: createRpcClient(KycApplicationService, kyc),
    clients: createRpcClient(ClientService, clients),
    onboarding: createRpcClient(OnboardingService, clients),
    beneficiaries: createRpcClient(BeneficiaryService, clients),
    accounts: createRpcClient(AccountService, clients),
    payments: createRpcClient(PaymentService, payments),
    paymentLinks: createRpcClient(PaymentLinkService, payments),
    checkout: createRpcClient(CheckoutService, payments),
    receipts: createRpcClient(ReceiptService, payments),
    refunds: createRpcClient(RefundService, payments),
    statements: createRpcClient(StatementService, payments),
    webhookEndpoints: createRpcClient(WebhookEndpointService, webhooks),
    events: createRpcClient(EventService, webhooks),
    /** An RPC client for each service that consumes events. */
    deadLetters: {
      webhooks: createRpcClient(DeadLetterService, webhooks),
      clients: createRpcClient(DeadLetterService, clients),
      identity: createRpcClient(DeadLetterService, identity),
    },
  };
}
